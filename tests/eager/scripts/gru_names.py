"""Names classified by language with a bidirectional GRU over padded characters."""
import string

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

NAMES = {
    "Italian": "rossi ferrari bianchi romano colombo ricci marino greco bruno gallo conti costa".split(),
    "Russian": "ivanov petrov sidorov volkov smirnov kuznetsov popov sokolov lebedev kozlov novikov morozov".split(),
    "Japanese": "sato suzuki takahashi tanaka watanabe ito yamamoto nakamura kobayashi kato yoshida yamada".split(),
}
ALPHABET = {c: i + 1 for i, c in enumerate(string.ascii_lowercase)}
LABELS = list(NAMES)


class NameDataset(Dataset):
    def __init__(self):
        self.items = [(name, LABELS.index(language)) for language, names in NAMES.items() for name in names]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        name, label = self.items[index]
        return torch.tensor([ALPHABET[c] for c in name]), label


def collate_batch(batch):
    texts, labels = zip(*batch)
    padded = nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=0)
    return padded, torch.tensor(labels, dtype=torch.int64)


class RNNClassifier(nn.Module):
    def __init__(self, vocab, embed, hidden, classes, n_layers=1, bidirectional=True):
        super().__init__()
        self.n_directions = int(bidirectional) + 1
        self.embedding = nn.Embedding(vocab, embed, padding_idx=0)
        self.gru = nn.GRU(embed, hidden, n_layers, batch_first=True, bidirectional=bidirectional)
        self.fc = nn.Linear(hidden * self.n_directions, classes)

    def forward(self, x):
        embedded = self.embedding(x)
        output, hidden = self.gru(embedded)
        if self.n_directions == 2:
            hidden_cat = torch.cat([hidden[-1], hidden[-2]], dim=1)
        else:
            hidden_cat = hidden[-1]
        return self.fc(hidden_cat)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(NameDataset(), batch_size=9, shuffle=True, collate_fn=collate_batch)
classifier = RNNClassifier(27, 8, 12, len(LABELS)).to(device)
print(classifier)
print({name: tuple(p.shape) for name, p in classifier.gru.named_parameters()})
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(classifier.parameters(), lr=0.02)
for epoch in range(1, 9):
    total_loss = 0.0
    for texts, labels in loader:
        texts, labels = texts.to(device), labels.to(device)
        output = classifier(texts)
        loss = criterion(output, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(labels)
    if epoch % 2 == 0:
        print(f"Epoch {epoch} loss={total_loss / len(loader.dataset):.3f}")

classifier.eval()
with torch.no_grad():
    texts, labels = collate_batch([NameDataset()[i] for i in range(0, 36, 4)])
    predicted = classifier(texts).argmax(-1)
    print([LABELS[i] for i in predicted], (predicted == labels).float().mean())
