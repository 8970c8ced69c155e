// PATCH (RFC 7644, section 3.5.2) of people. What identity providers send differs from the RFC: operations in any case,
// paths as keys of a value without a path, truth values as texts.
import { type ScimPatch, scimUrns } from "../../../api/hosts/scim.ts";
import { isRecord } from "../../../text/record.ts";
import { scimError } from "./errors.ts";
import { attributeName, type Condition, closing, parseFilter } from "./filter.ts";

type Operation = ScimPatch["Operations"][number];
export type Verb = "add" | "replace" | "remove";

function verbOf({ op }: Operation): Verb {
  const verb = op.toLowerCase();
  if (verb === "add" || verb === "replace" || verb === "remove") return verb;
  throw scimError("invalidSyntax", `op must be add, replace or remove, not ${JSON.stringify(op)}`);
}

export interface Path {
  /** In lower case: `emails`, or `urn:...:user:department`. */
  readonly attribute: string;
  readonly filter: readonly Condition[] | null;
  /** The attribute within the value, as written: `givenName`. */
  readonly sub: string | null;
}

const ENTERPRISE = scimUrns.enterprise.toLowerCase();

function parsePath(text: string): Path {
  const bad = () => scimError("invalidPath", `the path ${JSON.stringify(text)} is not supported`);
  const lower = text.trim().toLowerCase();
  if (lower === ENTERPRISE) return { attribute: ENTERPRISE, filter: null, sub: null };
  if (lower.startsWith(`${ENTERPRISE}:`))
    return { attribute: ENTERPRISE, filter: null, sub: lower.slice(ENTERPRISE.length + 1) };
  const path = text.trim().slice(-attributeName(lower).length);
  // Attributes of other schemas are not kept.
  if (path.toLowerCase().startsWith("urn:")) return { attribute: lower, filter: null, sub: null };
  const name = /^[A-Za-z$][\w$-]*/.exec(path)?.[0];
  if (name === undefined) throw bad();
  let rest = path.slice(name.length);
  let filter: Condition[] | null = null;
  if (rest.startsWith("[")) {
    const end = closing(rest);
    if (end === -1) throw bad();
    filter = parseFilter(rest.slice(1, end));
    rest = rest.slice(end + 1);
  }
  if (rest !== "" && !/^\.[A-Za-z$][\w$-]*$/.test(rest)) throw bad();
  return { attribute: name.toLowerCase(), filter, sub: rest === "" ? null : rest.slice(1) };
}

/** The changes of an operation, each with a path. Without one, the value's keys are paths. */
export function changesOf(operation: Operation): { verb: Verb; path: Path; value: unknown }[] {
  const verb = verbOf(operation);
  const { path, value } = operation;
  if (path !== undefined && path.trim() !== "") return [{ verb, path: parsePath(path), value }];
  if (verb === "remove") throw scimError("noTarget", "remove needs a path");
  if (!isRecord(value)) throw scimError("invalidValue", "an operation without a path needs an object as its value");
  return Object.entries(value).map(([key, part]) => ({ verb, path: parsePath(key), value: part }));
}

type Attributes = Record<string, unknown>;

/** The attributes that are kept, by their names in lower case. All others are ignored. */
const attributeNames: Readonly<Record<string, string>> = {
  externalid: "externalId",
  username: "userName",
  displayname: "displayName",
  active: "active",
  name: "name",
  emails: "emails",
  [ENTERPRISE]: scimUrns.enterprise,
};
const subs: Readonly<Record<string, string>> = {
  formatted: "formatted",
  givenname: "givenName",
  familyname: "familyName",
  department: "department",
  value: "value",
  type: "type",
  primary: "primary",
};
const subName = (text: string): string => subs[text.toLowerCase()] ?? text;

/** The attributes of a person after the operations. They are not validated yet. */
export function patched(before: Attributes, operations: readonly Operation[]): Attributes {
  const after: Attributes = structuredClone(before);
  for (const operation of operations)
    for (const { verb, path, value } of changesOf(operation)) {
      const name = attributeNames[path.attribute];
      if (name === undefined) continue;
      if (name === "emails") after.emails = patchedEmails(emailsIn(after), verb, path, value);
      else if (name === "name" || name === scimUrns.enterprise) patchObject(after, name, verb, path, value);
      else if (verb === "remove") delete after[name];
      else after[name] = value;
    }
  return after;
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined;

function patchObject(after: Attributes, name: string, verb: Verb, { sub }: Path, value: unknown): void {
  const attributes = isRecord(after[name]) ? { ...(after[name] as Attributes) } : {};
  if (sub === null) {
    if (verb === "remove") {
      delete after[name];
      return;
    }
    if (!isRecord(value)) throw scimError("invalidValue", `${name} must be an object`);
    for (const [key, part] of Object.entries(value)) attributes[subName(key)] = part;
  } else if (verb === "remove") delete attributes[subName(sub)];
  else attributes[subName(sub)] = value;
  for (const [key, part] of Object.entries(attributes)) if (isEmpty(part)) delete attributes[key];
  after[name] = attributes;
}

const emailsIn = ({ emails }: Attributes): Attributes[] => (Array.isArray(emails) ? emails.filter(isRecord) : []);

/** The entries of a value: a list, one object, or a bare address. */
function entriesOf(value: unknown): Attributes[] {
  const all = Array.isArray(value) ? value : [value];
  return all.map((email) => {
    if (typeof email === "string") return { value: email };
    if (!isRecord(email)) throw scimError("invalidValue", "an email address must be an object with a value");
    return Object.fromEntries(Object.entries(email).map(([key, part]) => [subName(key), part]));
  });
}

const fits = (entry: Attributes, { attribute, value }: Condition): boolean =>
  String(entry[subName(attribute)] ?? "").toLowerCase() === value.toLowerCase();

function patchedEmails(emails: Attributes[], verb: Verb, { filter, sub }: Path, value: unknown): Attributes[] {
  if (filter === null && sub === null) {
    if (verb === "replace") return isEmpty(value) ? [] : entriesOf(value);
    if (verb === "add") return joined(emails, entriesOf(value));
    if (isEmpty(value)) return [];
    const gone = new Set(entriesOf(value).map((entry) => String(entry.value).toLowerCase()));
    return emails.filter((entry) => !gone.has(String(entry.value).toLowerCase()));
  }
  const isMeant = (entry: Attributes) => (filter ?? []).every((condition) => fits(entry, condition));
  if (verb === "remove" && sub === null) return emails.filter((entry) => !isMeant(entry));
  const field = sub === null ? null : subName(sub);
  const change = (entry: Attributes): Attributes => {
    if (field === null) return { ...entry, ...entriesOf(value)[0] };
    const { [field]: _removed, ...rest } = entry;
    return verb === "remove" || isEmpty(value) ? rest : { ...rest, [field]: value };
  };
  const changed = emails.map((entry) => (isMeant(entry) ? change(entry) : entry));
  // Providers replace the work address of people who have none yet.
  if (verb !== "remove" && !emails.some(isMeant))
    changed.push(
      change(
        Object.fromEntries((filter ?? []).map(({ attribute, value: required }) => [subName(attribute), required])),
      ),
    );
  // An address without a value is none.
  return changed.filter((entry) => !isEmpty(entry.value));
}

/** A new primary address takes the place of the old one. */
function joined(emails: readonly Attributes[], more: readonly Attributes[]): Attributes[] {
  const isSame = (a: Attributes, b: Attributes) => a.value === b.value && a.type === b.type;
  const rest = emails.filter((entry) => !more.some((email) => isSame(email, entry)));
  const hasPrimary = more.some(({ primary }) => primary === true);
  return [...rest.map((entry) => (hasPrimary ? { ...entry, primary: false } : entry)), ...more];
}
