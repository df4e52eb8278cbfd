"""What a step computed: its operations, its graph, and where gradients end."""
