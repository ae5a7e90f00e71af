"""Skip-gram with negative sampling on a small text; warm restarts of the learning rate."""
import collections
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

TEXT = """the king rules the land and the queen rules the land the farmer ploughs the field and the farmer sows the
field the king and the queen live in the castle the farmer lives near the field and the miller lives near the mill the
miller grinds the corn of the farmer and the baker bakes the bread of the miller the king eats the bread""".split()


class Skipgrams(Dataset):
    def __init__(self, text, window=2):
        self.counter = collections.Counter(text)
        self.words = sorted(self.counter)
        self.word_to_ix = {word: i for i, word in enumerate(self.words)}
        ids = [self.word_to_ix[word] for word in text]
        self.pairs = [(ids[i], ids[j]) for i in range(len(ids))
                      for j in range(max(0, i - window), min(len(ids), i + window + 1)) if j != i]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        return self.pairs[index]


class SkipGram(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.u = nn.Embedding(vocab_size, dim)
        self.v = nn.Embedding(vocab_size, dim)
        initrange = 0.5 / dim
        self.u.weight.data.uniform_(-initrange, initrange)
        self.v.weight.data.fill_(0)

    def forward(self, centre, context, negatives):
        u = self.u(centre)
        positive = F.logsigmoid((u * self.v(context)).sum(1))
        negative = F.logsigmoid(-torch.bmm(self.v(negatives), u.unsqueeze(2)).squeeze(2)).sum(1)
        return -(positive + negative).mean()


torch.manual_seed(0)
rng = np.random.RandomState(0)
data = Skipgrams(TEXT)
print(len(data.words), "words,", len(data), "pairs")
weights = [1.0 / data.counter[data.words[centre]] for centre, _ in data.pairs]
loader = DataLoader(data, batch_size=40, sampler=WeightedRandomSampler(weights, 200))
model = SkipGram(len(data.words), 8)
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2, eta_min=0.1)
iters = len(loader)
for epoch in range(6):
    total = torch.Tensor([0])
    for i, (centre, context) in enumerate(loader):
        negatives = torch.LongTensor(rng.randint(0, len(data.words), (len(centre), 3)))
        model.zero_grad()
        loss = model(centre, context, negatives)
        loss.backward()
        optimizer.step()
        scheduler.step(epoch + i / iters)
        total += loss.item()
    print(f"epoch {epoch} loss {total.item() / iters:.4f} lr {scheduler.get_last_lr()[0]:.4f}")

folder = Path(tempfile.mkdtemp())
saved = {"words": data.words, "embeddings": model.u.weight.data, "config": {"dim": 8, "window": 2}}
torch.save(saved, folder / "w2v.pt")
checkpoint = torch.load(folder / "w2v.pt", weights_only=True)
assert checkpoint["words"] == data.words and checkpoint["config"]["dim"] == 8
embeddings = F.normalize(checkpoint["embeddings"], dim=1)
similar = embeddings @ embeddings[data.word_to_ix["king"]]
values, indices = torch.topk(similar, 3)
print([data.words[i] for i in indices.tolist()], values[0])
print(nn.CosineSimilarity(dim=0)(embeddings[0], embeddings[1]))
