import heads_ring

print(heads_ring.CLASSES)
