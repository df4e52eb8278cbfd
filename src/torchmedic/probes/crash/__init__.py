"""What is looked at when the script has died, while its frames are still alive."""
