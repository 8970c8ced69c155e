/** Codes of `/login?status=`. */
export type SsoStatus = "error" | "org_disabled" | "account_disabled" | "account_invalid";

/** A sign-in is refused. The reason goes to the log, never to the browser, and holds nothing of the assertion but names of its parts. */
export class SsoRefusal extends Error {
  readonly status: SsoStatus;
  /** Of whom, as the identity provider vouched for it; empty where it did not. */
  readonly email: string;
  /** What came is no document that is looked at any further. */
  readonly isMalformed: boolean;

  constructor(reason: string, more: { status?: SsoStatus; email?: string; isMalformed?: boolean } = {}) {
    super(reason);
    this.status = more.status ?? "error";
    this.email = more.email ?? "";
    this.isMalformed = more.isMalformed ?? false;
  }
}

export function refuse(reason: string): never {
  throw new SsoRefusal(reason);
}
