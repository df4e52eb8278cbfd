import torch

with open("weights.pt", "w") as file:
    file.write("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 1048576\n")
state = torch.load("weights.pt")  # expect: ERR055
print(state.keys())
