// The page that informs users of a host what the organization can see and do.
import { html } from "../html.ts";
import type { Answer } from "../page.ts";

const seen = [
  "the computer: model, serial number, disks, memory, network addresses, battery",
  "the operating system, its version, and its last start",
  "installed programs, packages and browser extensions, and when programs were last used",
  "user accounts of the computer, and its certificates",
  "whether the disk is encrypted, and whether the computer complies with the policies of your organization",
  "results of queries that administrators run; these can include any data that the agent can read",
];
const done = [
  "run scripts, if your organization has turned them on",
  "lock, unlock and erase the computer",
  "store the recovery key of an encrypted disk, so that the disk can be unlocked if a password is lost",
];

export const transparencyPage = async (): Promise<Answer> => ({
  title: "What your organization can see",
  body: html`<div class="card"><h1>What your organization can see</h1>
<p>This computer is managed by your organization. Its agent reports to the management server:</p>
<ul>${seen.map((item) => html`<li>${item}</li>`)}</ul>
<p>Administrators can also:</p>
<ul>${done.map((item) => html`<li>${item}</li>`)}</ul>
<p>The actions of administrators are recorded with their names. Ask your organization which of these features it uses.</p></div>`,
});
