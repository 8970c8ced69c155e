import { invalid } from "../core/errors.ts";

/** The address in the form that is kept and compared: lower case. 422 for what cannot be one. */
export function cleanEmail(email: string): string {
  const clean = email.trim().toLowerCase();
  if (!/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(clean) || clean.length > 255)
    throw invalid("email", "must be an email address");
  return clean;
}

/** A picture's address is shown to others: empty, or one that cannot run as script. */
export function checkGravatar(url: string | undefined): void {
  if (url && !/^https?:\/\/\S+$/i.test(url)) throw invalid("gravatar_url", "must be an http or https URL");
}
