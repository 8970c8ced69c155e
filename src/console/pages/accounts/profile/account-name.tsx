import type { ReactElement } from "react";

/** The name of the account in forms with a password, so that password managers know to which account it belongs. */
export const AccountName = ({ email }: { readonly email: string }): ReactElement => (
  <input
    type="text"
    className="hidden"
    autoComplete="username"
    aria-hidden="true"
    tabIndex={-1}
    readOnly
    value={email}
  />
);
