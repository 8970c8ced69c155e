// The texts of mails, as plain text and as simple HTML.
import type { Letter } from "./smtp.ts";

interface Parts {
  readonly subject: string;
  readonly before: readonly string[];
  /** The button's label and target. */
  readonly link?: { readonly label: string; readonly url: string };
  readonly after: readonly string[];
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character]!);

const LONGEST_NAME = 100;
/** A name for use in a sentence: truncated, on one line, and without anything that mail programs turn into a link. */
export const inSentence = (name: string): string =>
  name
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .replaceAll("://", " ")
    .trim()
    .slice(0, LONGEST_NAME);

export function letter(to: string, { subject, before, link, after }: Parts): Letter {
  const text = [...before, ...(link ? [`${link.label}:\n${link.url}`] : []), ...after].join("\n\n");
  const paragraph = (line: string) => `<p>${escaped(line)}</p>`;
  const html = [
    "<!doctype html>",
    '<html lang="en"><meta charset="utf-8">',
    `<body style="font-family:sans-serif;line-height:1.5;max-width:36em">`,
    ...before.map(paragraph),
    ...(link ? [`<p><a href="${escaped(link.url)}">${escaped(link.label)}</a></p>`] : []),
    ...after.map(paragraph),
    "</body></html>",
  ].join("\n");
  return { to, subject, text: `${text}\n`, html };
}

interface Reader {
  readonly name: string;
  readonly email: string;
}

const dear = ({ name }: Reader): string => `Hello ${inSentence(name)},`;

export const forgottenLetter = (user: Reader, url: string): Letter =>
  letter(user.email, {
    subject: "Choose a new password",
    before: [dear(user), "somebody requested a new password for your account. If it was you, choose one here:"],
    link: { label: "Choose a new password", url },
    after: ["The link works once, for one hour. If it was not you, you can ignore this mail."],
  });

export const passwordChangedLetter = (user: Reader): Letter =>
  letter(user.email, {
    subject: "Your password was changed",
    before: [
      dear(user),
      "a new password was set for your account through a mailed link, and all of its sessions were ended.",
    ],
    after: ["If it was not you, contact your administrator immediately."],
  });

export const confirmEmailLetter = (user: Reader, newEmail: string, url: string): Letter =>
  letter(newEmail, {
    subject: "Confirm your new email address",
    before: [
      dear(user),
      "this address was entered as the new address of your account. The old address stays in use until you confirm the new one.",
    ],
    link: { label: "Confirm the address", url },
    after: [
      "You have to be signed in. The link works once, for one day.",
      "If you did not request this, you can ignore this mail.",
    ],
  });

export const emailChangingLetter = (user: Reader, newEmail: string): Letter =>
  letter(user.email, {
    subject: "Your email address is about to change",
    before: [
      dear(user),
      `the address of your account will change to ${inSentence(newEmail)} once that address is confirmed.`,
    ],
    after: ["If you did not request this, contact your administrator immediately."],
  });

export const signInLetter = (user: Reader, url: string): Letter =>
  letter(user.email, {
    subject: "Your sign-in link",
    before: [dear(user), "finish signing in here:"],
    link: { label: "Sign in", url },
    after: [
      "The link works once, for 15 minutes. Somebody has entered your password to get it: if it was not you, change it at once.",
    ],
  });

/** `organization` may be empty. */
export const inviteLetter = (invited: Reader, by: Reader, organization: string, url: string): Letter => {
  const place = inSentence(organization) === "" ? "svc" : `svc of ${inSentence(organization)}`;
  return letter(invited.email, {
    subject: `You are invited to ${place}`,
    before: [dear(invited), `${inSentence(by.name)} (${by.email}) invites you to ${place}.`],
    link: { label: "Accept the invite", url },
    after: ["The link works once, for five days. If you did not expect an invite, you can ignore this mail."],
  });
};

export const testLetter = (to: string, url: string): Letter =>
  letter(to, {
    subject: "A test of outgoing mail",
    before: ["Hello,", "this server can send mail:"],
    link: { label: "The server", url },
    after: [],
  });
