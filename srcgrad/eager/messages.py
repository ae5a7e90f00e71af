"""The texts of errors and warnings, in PyTorch's words; one place, so that they can be compared with it."""

from __future__ import annotations

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)
NO_GRAPH = "element {index} of tensors does not require grad and does not have a grad_fn"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
NOT_REAL = "grad can be implicitly created only for real scalar outputs but got {dtype}"
SEED_SHAPE = (
    "Mismatch in shape: grad_output[{index}] has a shape of {given} and output[{index}] has a shape of {expected}."
)
SEED_COMPLEX = (
    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
    "grad_output[{index}] has a dtype of {given} and output[{index}] has a dtype of {expected}."
)
SEED_TYPE = "gradients can be either Tensors or None, but got {kind}"
UNUSED = (
    "The differentiated Tensor at index {index} appears to not have been used in the graph. Set allow_unused=True if "
    "this is the desired behavior."
)
INPUT_WITHOUT_GRAD = "One of the differentiated Tensors does not require grad"
EMPTY_INPUTS = "`inputs` argument to `{function}()` cannot be empty."
BATCHED_SEED = (
    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The "
    "sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was "
    "detected: grad_output[{index}] has a shape of {given} and output[{index}] has a shape of {expected}. If you only "
    "want some tensors in `grad_output` to be considered batched, consider using vmap."
)
IN_TRANSFORM = (
    "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
    "functorch.vjp instead or call backward() outside of functorch transforms."
)
RANDOM_IN_BATCH = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)
DETACHED_INPLACE = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please "
    "use out-of-place `.detach()` instead"
)
SHARED_WITHOUT_TANGENT = (
    "a value with a tangent (torch.autograd.forward_ad) is stored in place into a tensor without one, whose memory "
    "others share, which would not learn of the tangent: a view, a detached tensor, an array of NumPy's, or the graph. "
    "Store into a clone(), make the tensor dual before its views are made, or use an operation out of place."
)
OUT_WITH_TANGENT = "Trying to use forward AD with a function of out=, which does not support it"
LOST_BATCH = (
    "the gradient of a tensor is still batched by a transform (vmap, jacrev, jacfwd, is_grads_batched) that has ended, "
    "or that the tensor is outside of; it was not summed on its way out, so it is no gradient of this tensor. Use "
    "inside of a transform only what has been made there or was there before, and return what is used afterwards."
)
MOVED_LEAF = "leaf variable has been moved into the graph interior"
CONJUGATE_INPLACE = (
    "a conjugate is a view in PyTorch; here it has memory of its own, so that it cannot be written to in place. Use "
    "x.conj_physical() or x.conj().clone(), and write to that."
)
CAPTURED_INPLACE = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call an in-place operation that "
    "would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to "
    "explicitly accept the mutated Tensor(s) as inputs."
)
REQUIRES_GRAD_IN_TRANSFORM = (
    "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of "
    "a function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch "
    "transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
    "transformed instead."
)
NESTED_DATA = (
    "{what} of a tensor that has a derivative in several transforms takes it out of the innermost one alone in PyTorch; "
    "here it cannot. Use detach(), which takes it out of all of them."
)
MATERIALIZE = "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
CREATE_GRAPH_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which "
    "can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use "
    "this function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid "
    "the leak."
)
NONLEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
    "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
    ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
    "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more informations."
)
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[{kind} {shape}]{origin} is at version {now}; expected version {then} instead. Hint: {hint}"
)
MODIFIED_HINT = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
MODIFIED_HINT_ANOMALY = (
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
    "changed in there or anywhere later. Good luck!"
)
NOT_WRITABLE = "attribute '{name}' of 'torch._C.TensorBase' objects is not writable"
NUMPY_REQUIRES_GRAD = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
LEAF_INPLACE = "a leaf Variable that requires grad is being used in an in-place operation."
LEAF_IN_FUNCTION = "a leaf Variable that requires grad has been used in an in-place operation."
DIRTY_VIEW = "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
LEAF_VIEW_INPLACE = "a view of a leaf Variable that requires grad is being used in an in-place operation."
REQUIRES_GRAD_KIND = "Only Tensors of floating point and complex dtype can require gradients"
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
    "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
    "`torch.no_grad()` instead of `torch.inference_mode()`."
)
NOT_DIFFERENTIABLE = "derivative for aten::{name} is not implemented"
BROADCAST = "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dimension}"
INVALID_GRADIENT = (
    "Function {name} returned an invalid gradient at index {index} - got {given} but expected shape compatible with "
    "{expected}"
)
GRAD_DTYPE = "attempting to assign a gradient with dtype '{given}' to a tensor with grad_dtype '{mine}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match."
DETACH_VIEW = "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
INFERENCE_INPLACE = "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
OVERLAPPING = "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation."
SCALAR_OF_GRAD = "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first."
PACK_MODIFIED = "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place operations on the input to a pack hook."
LEGACY_FUNCTION = "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
SAVE_FOR_FORWARD = (
    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
)
BACKWARD_AND_VJP = "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."
DIRTY_NOT_RETURNED = "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function."
COPY_CONSTRUCT = "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
DEEPCOPY = "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
NEGATED_MASK = "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
SUBTRACTED_MASKS = "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
OUT_REQUIRES_GRAD = "{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
HOOK_RETURNED = "expected {expected}, but hook returned '{kind}'"
HOOK_SIZE = "hook '{name}' has changed the size of value"
HOOK_TYPE = "hook '{name}' has changed the type of value (was torch.{was} got torch.{now})"
HOOK_COUNT = "hook '{name}' has returned an incorrect number of values (got {count}, but expected {expected})"
HOOK_WITHOUT_GRAD = "cannot register a hook on a tensor that doesn't require gradient"
OUTSIDE_MUTATION = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally recorded."
HOOKS_ON_FREED = "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved variables after calling backward."
HOOKS_TWICE = "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a time."
NO_EDGE = "It is not possible to get the gradient edge for a Tensor that does not require gradients"
LEAF_WILL_EXECUTE = "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is currently not supported."
INFERENCE_REQUIRES_GRAD = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
PARTLY_OVERLAPPING = "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation."
VIEW_WRITTEN = "is being"
VIEW_WRITTEN_ELSEWHERE = "its base or another view of its base has been"
_MODE_VIEW = " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the {mode} block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
VIEW_FORBIDS = {
    "no_grad": _MODE_VIEW.format(mode="no_grad"),
    "inference": _MODE_VIEW.format(mode="inference_mode"),
    "several": " This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    "function": " This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.",
}
CHECKPOINT = {
    "explicit": "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between the two variants.",
    "reentrant": "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` argument.",
    "count": "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\nNumber of tensors saved during forward: {forward}\nNumber of tensors saved during recomputation: {again}.",
    "tensor": "tensor at position {place}:\nsaved metadata: {forward}\nrecomputed metadata: {again}",
    "facts": "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.\n{tensors}\n.",
    "tip": "\n\nTip: To see a more detailed error message, either pass `debug=True` to\n`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\nwith `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\nenable checkpoint‑debug mode globally.\n",
}
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
NO_TANGENT = "Trying to use forward AD with {name} that does not support it because it has not been implemented yet."
NO_DERIVATIVE = "the derivative for '{name}' is not implemented."
