"""REINFORCE with a baseline on a walk of seven states."""
import argparse
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

parser = argparse.ArgumentParser(description="REINFORCE")
parser.add_argument("--gamma", type=float, default=0.95, metavar="G")
parser.add_argument("--seed", type=int, default=543, metavar="N")
parser.add_argument("--log-interval", type=int, default=8, metavar="N")
args = parser.parse_args()
torch.manual_seed(args.seed)
rng = np.random.RandomState(args.seed)


class Walk:
    """From the middle of a chain: the right end pays 1, the left end nothing, a step costs a little."""

    def reset(self):
        self.place = 3
        return np.eye(7, dtype=np.float32)[self.place]

    def step(self, action):
        self.place += 1 if action else -1
        done = self.place in (0, 6)
        return np.eye(7, dtype=np.float32)[self.place], float(self.place == 6) - 0.02, done


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(7, 16)
        self.action_head = nn.Linear(16, 2)
        self.value_head = nn.Linear(16, 1)
        self.saved = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.log_softmax(self.action_head(x), dim=-1), self.value_head(x)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=2e-2)
eps = np.finfo(np.float32).eps.item()


def select_action(state):
    state = torch.from_numpy(state).float()
    log_probs, value = policy(state)
    action = int(rng.rand() < log_probs[1].exp().item())
    policy.saved.append((log_probs[action], value))
    return action


def finish_episode():
    R = 0
    returns = []
    for r in policy.rewards[::-1]:
        R = r + args.gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    policy_losses, value_losses = [], []
    for (log_prob, value), R in zip(policy.saved, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved[:]
    return loss.item()


env = Walk()
running_reward = 0
for i_episode in count(1):
    state, ep_reward = env.reset(), 0
    for t in range(1, 200):
        action = select_action(state)
        state, reward, done = env.step(action)
        policy.rewards.append(reward)
        ep_reward += reward
        if done:
            break
    running_reward = 0.1 * ep_reward + 0.9 * running_reward
    loss = finish_episode()
    if i_episode % args.log_interval == 0:
        print("Episode {}\tLast reward: {:.2f}\tAverage reward: {:.3f}\tLoss: {:.4f}".format(
            i_episode, ep_reward, running_reward, loss))
    if running_reward > 0.8 or i_episode == 48:
        break
with torch.no_grad():
    probabilities, values = policy(torch.eye(7))
    print(probabilities.exp()[:, 1])
    print(values.squeeze())
