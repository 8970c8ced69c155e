// An activity as a sentence: pieces of text, of which some are names and one may be the host.

import type { UpcomingActivity } from "../../../api/hosts/host-activities.ts";
import type { Activity } from "../../../api/platform/activities.ts";
import { type Details, type Sentence, sentences, text, upcoming } from "./sentences.ts";

export type ShownActivity = Activity | UpcomingActivity;

export type Piece =
  | { readonly kind: "text" | "name"; readonly text: string }
  /** Null: the host has no page, because it was deleted. */
  | { readonly kind: "host"; readonly text: string; readonly id: number | null };

/** The spelling of words that are not simply lower case. */
const words: Readonly<Record<string, string>> = {
  api: "API",
  ca: "CA",
  est: "EST",
  eula: "EULA",
  mdm: "MDM",
  scep: "SCEP",
  scim: "SCIM",
  sso: "SSO",
  ios: "iOS",
  ipados: "iPadOS",
  macos: "macOS",
  windows: "Windows",
};

/** The type in words: "turned on MDM". */
export const typeInWords = (type: string): string =>
  type
    .split("_")
    .map((word) => (Object.hasOwn(words, word) ? words[word] : word))
    .join(" ");

const isName = (key: string): boolean => /(^|_)(name|title|email|location)$/.test(key);
const places: ReadonlySet<string> = new Set(["host_display_name", "team_name"]);

/** For types without a sentence: the words of the type, the object, then its team and the host. */
function plainSentence(type: string, details: Details): string {
  const names = Object.keys(details).filter((key) => isName(key) && text(details[key]) !== "" && !places.has(key));
  const rank = (name: string) =>
    name === "software_title" ? 0 : name.endsWith("_email") ? 3 : name === "user_name" ? 2 : 1;
  const [subject] = names.sort((x, y) => rank(x) - rank(y));
  const done = typeInWords(type);
  if (subject !== undefined) return `${done} {${subject}}[ in the team {team_name}][ on {host}]`;
  return text(details.host_display_name) === "" ? `${done}[ {team_name}]` : `${done} {host}`;
}

/** Who did it, and what was done. */
export function piecesOf(activity: ShownActivity): { readonly who: readonly Piece[]; readonly what: readonly Piece[] } {
  const { type } = activity;
  const details = activity.details ?? {};
  const isByHost = !activity.svc_initiated && !activity.actor_full_name && isSelfService(type, details);
  const host = hostPiece(type, details);
  const name = activity.svc_initiated ? "svc" : activity.actor_full_name || "Somebody";
  const who: readonly Piece[] =
    isByHost && host !== null ? [{ kind: "text", text: "The user of " }, host] : [{ kind: "text", text: name }];
  const template = sentenceOf("uuid" in activity ? [upcoming, sentences] : [sentences], type);
  const sentence = (typeof template === "function" ? template(details) : template) ?? plainSentence(type, details);
  return { who, what: filled(sentence, details, isByHost ? null : host) };
}

/** The user of a host installs and removes software there without an account of this server. */
const isSelfService = (type: string, { self_service, host_display_name: host }: Details): boolean =>
  (self_service === true || type === "installed_all_self_service_software") && text(host) !== "";

const sentenceOf = (tables: readonly Readonly<Record<string, Sentence>>[], type: string): Sentence | undefined =>
  tables.find((table) => Object.hasOwn(table, type))?.[type];

function hostPiece(type: string, { host_id: id, host_display_name: host }: Details): Piece | null {
  const name = text(host);
  if (name === "") return null;
  const hasPage = typeof id === "number" && Number.isSafeInteger(id) && type !== "deleted_host";
  return { kind: "host", text: name, id: hasPage ? id : null };
}

/** The details in place of their names. Without `host`, parts that name it are left out. */
function filled(sentence: string, details: Details, host: Piece | null): readonly Piece[] {
  const value = (key: string): Piece | null => {
    if (key === "host") return host;
    const detail = Object.hasOwn(details, key) ? text(details[key]) : "";
    return detail === "" ? null : { kind: isName(key) ? "name" : "text", text: detail };
  };
  const part = (template: string): (Piece | null)[] =>
    template.split(/\{(\w+)\}/).map((piece, i) => (i % 2 === 1 ? value(piece) : { kind: "text", text: piece }));
  return sentence.split(/\[([^\][]*)\]/).flatMap((piece, i) => {
    const parts = part(piece);
    const whole = parts.filter((member) => member !== null && member.text !== "") as Piece[];
    return i % 2 === 1 && parts.includes(null) ? [] : whole;
  });
}
