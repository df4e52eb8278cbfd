import heads_ring

BOXES = 2
ANSWERS = BOXES * heads_ring.CLASSES  # expect: ERR104
