"""The dialogs of the app, one module each; `answers` checks what is typed into them."""
