"""From the IR and its facts to the normal form: rules, callees and stores are resolved by values."""
