// Asks the person at this machine (Linux): in a window of their session, or where systemd asks for passwords.
import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { outputOf } from "../tables/read.ts";

const ANSWER_MS = 5 * 60_000;

export interface Question {
  readonly title: string;
  readonly text: string;
}

interface Session {
  readonly name: string;
  readonly uid: string;
  readonly display: string;
}

/** The properties that `loginctl show-session` prints; null: nobody can see a window there. */
export function sessionIn(properties: string): Session | null {
  const of = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(properties)?.[1] ?? "";
  const isGraphical = ["x11", "wayland"].includes(of("Type")) && of("Active") === "yes";
  return isGraphical ? { name: of("Name"), uid: of("User"), display: of("Display") } : null;
}

async function session(): Promise<Session | null> {
  const list = await outputOf("loginctl", ["list-sessions", "--no-legend"]);
  for (const [id] of list.matchAll(/(?<=^\s*)\S+/gm)) {
    const properties = ["Name", "User", "Type", "Display", "Active"].flatMap((name) => ["--property", name]);
    const session = sessionIn(await outputOf("loginctl", ["show-session", id, ...properties]));
    if (session !== null) return session;
  }
  return null;
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** The command that asks; null: there is no program that could. */
async function commandFor({ title, text }: Question): Promise<readonly string[] | null> {
  const dialogs = [
    ["/usr/bin/zenity", "--password", "--title", `${title}: ${text}`],
    ["/usr/bin/kdialog", "--title", title, "--password", text],
  ];
  const person = await session();
  if (person !== null)
    for (const dialog of dialogs) {
      if (!(await exists(dialog[0]!))) continue;
      const run = `/run/user/${person.uid}`;
      const env = [`XDG_RUNTIME_DIR=${run}`, `DBUS_SESSION_BUS_ADDRESS=unix:path=${run}/bus`];
      const display = person.display === "" ? "WAYLAND_DISPLAY=wayland-0" : `DISPLAY=${person.display}`;
      return ["runuser", "-u", person.name, "--", "env", ...env, display, ...dialog];
    }
  const systemd = "/usr/bin/systemd-ask-password";
  const isThere = await exists(systemd);
  return isThere ? [systemd, "--no-tty", `--timeout=${ANSWER_MS / 1000}`, `${title}: ${text}`] : null;
}

/** Null: nobody has answered. */
export async function askPerson(question: Question, signal: AbortSignal): Promise<string | null> {
  const command = await commandFor(question);
  if (command === null) return null;
  const [file, ...args] = command;
  return new Promise((resolve) => {
    execFile(file!, args, { timeout: ANSWER_MS, signal }, (error, stdout) => {
      const answer = stdout.replace(/\n$/, "");
      resolve(error === null && answer !== "" ? answer : null);
    });
  });
}
