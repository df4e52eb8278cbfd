"""How much memory a training needs on a card, found without one."""
