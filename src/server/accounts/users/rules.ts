import { isEmail, NOT_AN_EMAIL } from "../../../api/fields.ts";
import { invalid } from "../../platform/core/errors.ts";

/** Returns the address in its stored form, lower case. 422 for an invalid address. */
export function cleanEmail(email: string): string {
  const clean = email.trim().toLowerCase();
  if (!isEmail(clean)) throw invalid("email", NOT_AN_EMAIL);
  return clean;
}

/** The picture's URL is shown to other users: it must be empty or have a scheme that cannot execute scripts. */
export function checkGravatar(url: string | undefined): void {
  if (url && !/^https?:\/\/\S+$/i.test(url)) throw invalid("gravatar_url", "must be an http or https URL");
}
