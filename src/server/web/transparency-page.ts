// What the organization can see of a host and do with it, told to the people who use it.
import { html } from "./html.ts";
import type { Answer } from "./page.ts";

const seen = [
  "the computer: model, serial number, disks, memory, network addresses, battery",
  "the operating system and its version, and when it was last started",
  "installed programs, packages and browser extensions, and when programs were last used",
  "user accounts of the computer, and its certificates",
  "whether the disk is encrypted, and whether the rules of your organization are kept",
  "answers to questions that administrators ask, which can be of any kind that the agent can answer",
];
const done = [
  "run scripts, where your organization has turned them on",
  "lock, unlock and erase the computer",
  "keep the key of an encrypted disk, so that the disk can be opened when a password is lost",
];

export const transparencyPage = async (): Promise<Answer> => ({
  title: "What your organization can see",
  body: html`<div class="card"><h1>What your organization can see</h1>
<p>This computer is managed by your organization. Its agent tells the management server:</p>
<ul>${seen.map((item) => html`<li>${item}</li>`)}</ul>
<p>Administrators can also:</p>
<ul>${done.map((item) => html`<li>${item}</li>`)}</ul>
<p>What administrators do is written down with their names. Ask your organization which of this it uses.</p></div>`,
});
