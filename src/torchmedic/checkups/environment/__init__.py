"""Looking at the machine and the installed packages; importing none of them."""
