"""Tensors in every place of a call: each has a derivative there, or is refused where it requires grad."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad.eager as torch
from tests.eager.expressions import leaves

#: Calls in which ``k``, ``j`` or ``u``, which require grad, stand for a constant.
CONSTANTS = """
t.add(v,w,alpha=k) t.sub(v,w,alpha=k) t.full((2,),k) t.full_like(v,k) v.new_full((2,),k) t.scalar_tensor(k)
t.arange(k,3.) t.arange(0.,j) t.arange(0,3.,k) t.range(0.,3.,k) t.logspace(0.,1.,4,base=j) t.bernoulli(v,k)
t.nan_to_num(v,nan=k) t.addcmul(v,w,w,value=k) t.addcdiv(v,w,w,value=k) t.dist(v,w,j) t.isclose(v,w,rtol=k)
t.addmm(A,A,B,beta=k) t.addmv(u,A,u,alpha=k) t.addr(A,u,u,beta=k) t.baddbmm(b3,b3,b3,alpha=k) t.cdist(n,r,p=j)
t.pdist(r,p=j) t.var(v,correction=k) v.std(correction=k) t.norm(v,j) v.norm(j) t.linalg.norm(v,j) t.linalg.cond(A,j)
t.linalg.vector_norm(v,j) t.linalg.matrix_norm(A,j) t.linalg.matrix_rank(A,tol=k) t.linalg.pinv(r,rtol=k)
t.linalg.pinv(r,atol=k) t.pinverse(r,k) t.linalg.lstsq(r,v,rcond=k) t.trapezoid(v,dx=k) t.gradient(v,spacing=k)
t.cumulative_trapezoid(v,dx=k) t.gradient(v,spacing=(k,)) t.renorm(n,j,0,.5) t.renorm(n,2,0,k) t.logit(v,k)
v.index_add(0,t.tensor([0,0]),w[:2],alpha=k) t.histc(v,4,k,1.) t.cosine_similarity(v,w,0,k) t.fft.fftfreq(4,k)
t.hardshrink(v,k) t.threshold(v,k,0.) t.threshold(v,.5,k) t.rrelu(-v,k,.9) t.celu(-v,k) t.dropout(v,k,True)
F.softshrink(v,k) F.softplus(v,k) F.leaky_relu(-v,k) F.leaky_relu_(-v,k) F.hardtanh(v,k,.9) F.elu(-v,k)
F.normalize(n,j) F.scaled_dot_product_attention(n,n,n,scale=k) F.dropout(v,k) F.smooth_l1_loss(v,w,beta=k)
F.huber_loss(v,w,delta=k) F.binary_cross_entropy(v,t.ones_like(v),w) F.triplet_margin_loss(n,n*2,n*3,1.,j)
F.binary_cross_entropy_with_logits(v,t.ones_like(v),w) F.binary_cross_entropy_with_logits(v,w,pos_weight=w)
F.nll_loss(n,t.tensor([0,1]),u) F.cross_entropy(n,t.tensor([0,1]),u) F.gaussian_nll_loss(v,w,w,eps=k)
F.cross_entropy(n,t.tensor([0,1]),label_smoothing=k)
F.multi_margin_loss(n,t.tensor([0,1]),weight=u) F.layer_norm(n,(3,),eps=k)
F.batch_norm(n,u,u.abs()) F.batch_norm(n,None,u,training=True) F.instance_norm(b3,u,u) F.group_norm(n,1,eps=k)
F.pad(v,(1,1),value=k) F.avg_pool2d(b3,2,divisor_override=j) F.embedding(t.tensor([0]),A,max_norm=k)
v.clone().addcmul_(w,w,value=k) v.clone().normal_(k) v.clone().renorm_(2,0,k) F.threshold_(v.clone(),k,0.)
t.bincount(t.tensor([0,1,1,0]),v).sum().backward()
"""
def given() -> dict[str, Any]:
    arrays = leaves() | {"k": np.array(0.5), "j": np.array(3.0)}
    return {name: torch.tensor(array.copy(), requires_grad=True) for name, array in arrays.items()}


@pytest.mark.parametrize("expression", CONSTANTS.split())
def test_a_tensor_that_requires_grad_is_refused_as_a_constant(expression: str) -> None:
    with pytest.raises((TypeError, RuntimeError)):
        eval(expression, {"t": torch, "F": torch.nn.functional, **given()})


@pytest.mark.parametrize("expression", CONSTANTS.split()[:-1])
def test_a_tangent_of_a_constant_is_refused_or_right(expression: str) -> None:
    plain = {name: tensor.detach() for name, tensor in given().items()}
    names = compile(expression, "<call>", "eval").co_names
    name = next(name for name in "kjuw" if name in names)

    def f(x: Any) -> Any:
        made = eval(expression, {"t": torch, "F": torch.nn.functional, **plain, name: x})
        return (made[0] if isinstance(made, tuple) else made).sum()

    x = plain[name]
    try:
        tangent = torch.func.jvp(f, (x,), (torch.ones_like(x),))[1].item()
    except (TypeError, RuntimeError):
        return
    assert tangent == pytest.approx(((f(x + 1e-6) - f(x - 1e-6)) / 2e-6).item(), abs=1e-6)
