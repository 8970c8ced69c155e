// Where the configuration contains secrets: the server encrypts and masks them, and the client never shows them.

/** Paths in a section; `*` matches each member of a list or map. */
export interface SecretFields {
  readonly secrets: readonly string[];
  /** Paths that `secrets` matches although they are not secret. */
  readonly shown: readonly string[];
}

/** The fields of a service account's key that are not secret. */
const openKeyFields = [
  "type",
  "project_id",
  "client_email",
  "client_id",
  "auth_uri",
  "token_uri",
  "auth_provider_x509_cert_url",
  "client_x509_cert_url",
  "universe_domain",
];

/** By section of the configuration. Other sections have no secrets. */
export const configSecrets = {
  smtp_settings: { secrets: ["password"], shown: [] },
  integrations: {
    secrets: ["ticketing_a.*.api_token", "ticketing_b.*.api_token", "calendar.*.api_key_json.*"],
    shown: openKeyFields.map((name) => `calendar.*.api_key_json.${name}`),
  },
} as const satisfies Record<string, SecretFields>;

const isNode = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The paths in the value that match a pattern. */
export function pathsOf(value: unknown, pattern: string | readonly string[]): string[][] {
  const [head, ...rest] = typeof pattern === "string" ? pattern.split(".") : pattern;
  if (head === undefined) return [[]];
  if (!isNode(value)) return [];
  const keys = head === "*" ? Object.keys(value) : Object.hasOwn(value, head) ? [head] : [];
  return keys.flatMap((key) => pathsOf(value[key], rest).map((path) => [key, ...path]));
}

/** The paths of all secrets in this value. */
export function secretPaths({ secrets, shown }: SecretFields, value: unknown): string[][] {
  const open = new Set(shown.flatMap((pattern) => pathsOf(value, pattern)).map((path) => path.join("\0")));
  return secrets.flatMap((pattern) => pathsOf(value, pattern)).filter((path) => !open.has(path.join("\0")));
}
