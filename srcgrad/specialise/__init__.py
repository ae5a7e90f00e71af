"""From the IR and what is known of it to the normal form: rules, callees and stores are resolved by values."""
