"""Attacks: each tries random inputs for as long as it is let, and says with what seed it found a defect."""
