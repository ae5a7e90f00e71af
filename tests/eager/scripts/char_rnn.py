"""A character model with nn.RNN, truncated backpropagation, clipped gradients, warm-up and decay in sequence."""
import numpy as np
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import ExponentialLR, LinearLR, SequentialLR

text = "the quick brown fox jumps over the lazy dog and runs away from the big bad wolf. " * 3
chars = sorted(set(text))
stoi = {ch: i for i, ch in enumerate(chars)}
data = torch.tensor([stoi[ch] for ch in text], dtype=torch.long)


class CharRNN(nn.Module):
    def __init__(self, vocab_size, hidden_size=32, num_layers=2):
        super().__init__()
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.rnn = nn.RNN(input_size=hidden_size, hidden_size=hidden_size, num_layers=num_layers, nonlinearity="tanh")
        self.decoder = nn.Linear(hidden_size, vocab_size)

    def forward(self, input_seq, hidden_state):
        embedding = self.embedding(input_seq)
        output, hidden_state = self.rnn(embedding, hidden_state)
        return self.decoder(output), hidden_state.detach()

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(self.num_layers, batch, self.hidden_size)


torch.manual_seed(8)
seq_len, batch = 20, 3
model = CharRNN(len(chars))
model.rnn.flatten_parameters()
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
warmup = LinearLR(optimizer, start_factor=0.1, total_iters=4)
decay = ExponentialLR(optimizer, gamma=0.9)
scheduler = SequentialLR(optimizer, schedulers=[warmup, decay], milestones=[4])

streams = data[: len(data) // batch * batch].view(batch, -1).t().contiguous()
for epoch in range(1, 11):
    hidden = model.init_hidden(batch)
    running, n = 0.0, 0
    for start in range(0, streams.size(0) - 1, seq_len):
        length = min(seq_len, streams.size(0) - 1 - start)
        x, target = streams[start:start + length], streams[start + 1:start + 1 + length]
        output, hidden = model(x, hidden)
        loss = loss_fn(output.view(-1, len(chars)), target.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item()
        n += 1
    lr = optimizer.param_groups[0]["lr"]
    scheduler.step()
    if epoch % 2 == 0:
        print("Epoch: {0} \t Loss: {1:.4f} \t lr: {2:.6f} \t norm: {3:.3f}".format(epoch, running / n, lr, norm))

model.eval()
hidden = model.init_hidden(1)
ch, written = torch.tensor([[stoi["t"]]]), "t"
with torch.no_grad():
    for _ in range(12):
        output, hidden = model(ch, hidden)
        ch = output[-1].argmax(dim=-1, keepdim=True)
        written += chars[ch.item()]
    print(repr(written[:5]), hidden.shape)
print("perplexity %.2f" % np.exp(running / n))
