"""Two LSTM cells continue sine waves; trained by L-BFGS in double precision."""
from __future__ import print_function

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class Sequence(nn.Module):
    def __init__(self):
        super(Sequence, self).__init__()
        self.lstm1 = nn.LSTMCell(1, 9)
        self.lstm2 = nn.LSTMCell(9, 9)
        self.linear = nn.Linear(9, 1)

    def forward(self, input, future=0):
        outputs = []
        h_t = torch.zeros(input.size(0), 9, dtype=torch.double)
        c_t = torch.zeros(input.size(0), 9, dtype=torch.double)
        h_t2 = torch.zeros(input.size(0), 9, dtype=torch.double)
        c_t2 = torch.zeros(input.size(0), 9, dtype=torch.double)

        for input_t in input.split(1, dim=1):
            h_t, c_t = self.lstm1(input_t, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        for i in range(future):  # if we should predict the future
            h_t, c_t = self.lstm1(output, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        outputs = torch.cat(outputs, dim=1)
        return outputs


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2, help="steps to run")
    opt = parser.parse_args()
    np.random.seed(2)
    torch.manual_seed(0)
    T, L, N = 5, 24, 6
    x = np.arange(L) + np.random.randint(-4 * T, 4 * T, N).reshape(N, 1)
    data = np.sin(x / 1.0 / T).astype("float64")
    input = torch.from_numpy(data[2:, :-1])
    target = torch.from_numpy(data[2:, 1:])
    test_input = torch.from_numpy(data[:2, :-1])
    test_target = torch.from_numpy(data[:2, 1:])
    seq = Sequence()
    seq.double()
    criterion = nn.MSELoss()
    # use LBFGS as optimizer since we can load the whole data to train
    optimizer = optim.LBFGS(seq.parameters(), lr=0.8, max_iter=5)
    for i in range(opt.steps):
        print("STEP: ", i)

        def closure():
            optimizer.zero_grad()
            out = seq(input)
            loss = criterion(out, target)
            print("loss: {:.6f}".format(loss.item()))
            loss.backward()
            return loss

        optimizer.step(closure)
        with torch.no_grad():
            future = 4
            pred = seq(test_input, future=future)
            loss = criterion(pred[:, :-future], test_target)
            print("test loss: {:.6f}".format(loss.item()))
            y = pred.detach().numpy()
        print(y[0, -future:].round(4))
