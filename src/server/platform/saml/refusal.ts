/** The codes of `/login?status=`. */
export type SsoStatus = "error" | "org_disabled" | "account_disabled" | "account_invalid";

/**
 * A sign-in is refused. The reason is logged and never shown to the browser. It contains only names of the
 * assertion's parts, no values.
 */
export class SsoRefusal extends Error {
  readonly status: SsoStatus;
  /** The email address confirmed by the identity provider. Empty if there is none. */
  readonly email: string;
  /** The input is not a document that can be processed at all. */
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
