// Settings that are lists of objects.
import type { Integrations, YaraRules } from "../../../../api/settings/app-config.ts";
import type { ConfigField } from "./setting-types.ts";

interface EntryColumn<Entry> {
  readonly name: string;
  readonly cell: (entry: Entry) => string | number;
  readonly isNumber?: boolean;
}

export interface EntryList<Entry extends object> {
  /** The place of the list in the configuration. */
  readonly path: string;
  /** The name of the table: "Calendars". */
  readonly name: string;
  readonly thing: string;
  readonly purpose: string;
  readonly nameOf: (entry: Entry) => string;
  /** The first values of a new one. */
  readonly blank: Entry;
  /** The paths of these fields are within an entry. */
  readonly fields: readonly ConfigField[];
  readonly columns: readonly EntryColumn<Entry>[];
  /** Whether the server contacts the other side before an entry is saved. */
  readonly hasCheck?: boolean;
  readonly empty: string;
  /** What happens when an entry is deleted. */
  readonly deletion: string;
}

const ticketFields = [
  { path: "enable_failing_policies", label: "Tickets for policies that hosts fail", kind: "check" },
  { path: "enable_software_vulnerabilities", label: "Tickets for new vulnerabilities", kind: "check" },
] as const satisfies readonly ConfigField[];

interface TicketSwitches {
  readonly enable_failing_policies: boolean;
  readonly enable_software_vulnerabilities: boolean;
}

const ticketsOf = ({ enable_failing_policies, enable_software_vulnerabilities }: TicketSwitches): string =>
  [enable_failing_policies ? "policies" : null, enable_software_vulnerabilities ? "vulnerabilities" : null]
    .filter(Boolean)
    .join(", ") || "for teams only";

const noTickets = { enable_failing_policies: false, enable_software_vulnerabilities: false };
const TOKEN_HINT = "stored encrypted and never shown; another address needs it again";
const NO_TICKETS = "No tickets are created there any more, for teams neither. Tickets that exist stay.";

export const ticketTrackers: EntryList<Integrations["ticketing_a"][number]> = {
  path: "integrations.ticketing_a",
  name: "Ticket trackers",
  thing: "tracker",
  purpose: "Trackers with the REST API of Jira, in which tickets are created for policies and vulnerabilities.",
  nameOf: ({ url, project_key }) => `${project_key} at ${url}`,
  blank: { ...noTickets, url: "", username: "", api_token: "", project_key: "" },
  fields: [
    { path: "url", label: "URL", kind: "url" },
    { path: "username", label: "User name", kind: "text" },
    { path: "api_token", label: "API token", kind: "secret", hint: TOKEN_HINT },
    { path: "project_key", label: "Key of the project", kind: "text" },
    ...ticketFields,
  ],
  columns: [
    { name: "URL", cell: ({ url }) => url },
    { name: "Project", cell: ({ project_key }) => project_key },
    { name: "User name", cell: ({ username }) => username },
    { name: "Tickets for", cell: ticketsOf },
  ],
  hasCheck: true,
  empty: "There are no trackers.",
  deletion: NO_TICKETS,
};

export const helpDesks: EntryList<Integrations["ticketing_b"][number]> = {
  path: "integrations.ticketing_b",
  name: "Help desks",
  thing: "help desk",
  purpose: "Help desks with the REST API of Zendesk.",
  nameOf: ({ url, group_id }) => `group ${group_id} at ${url}`,
  blank: { ...noTickets, url: "", email: "", api_token: "", group_id: 0 },
  fields: [
    { path: "url", label: "URL", kind: "url" },
    { path: "email", label: "Email of the user", kind: "email" },
    { path: "api_token", label: "API token", kind: "secret", hint: TOKEN_HINT },
    { path: "group_id", label: "Number of the group", kind: "number" },
    ...ticketFields,
  ],
  columns: [
    { name: "URL", cell: ({ url }) => url },
    { name: "Group", cell: ({ group_id }) => group_id, isNumber: true },
    { name: "Email", cell: ({ email }) => email },
    { name: "Tickets for", cell: ticketsOf },
  ],
  hasCheck: true,
  empty: "There are no help desks.",
  deletion: NO_TICKETS,
};

export const calendars: EntryList<Integrations["calendar"][number]> = {
  path: "integrations.calendar",
  name: "Calendars",
  thing: "calendar",
  purpose: "Domains in whose calendars users get an event when their host fails a policy. Teams turn it on.",
  nameOf: ({ domain }) => domain,
  blank: { domain: "", api_key_json: {} },
  fields: [
    { path: "domain", label: "Domain", kind: "text", hint: "such as example.com" },
    {
      path: "api_key_json",
      label: "Key of the service account",
      kind: "json",
      hint: "the JSON file as it was downloaded; secrets in it are stored encrypted and shown as ********",
    },
  ],
  columns: [
    { name: "Domain", cell: ({ domain }) => domain },
    { name: "Service account", cell: ({ api_key_json: { client_email } }) => String(client_email ?? "") },
  ],
  empty: "There are no calendars.",
  deletion: "Users of this domain get no events any more.",
};

export const yaraRules: EntryList<YaraRules[number]> = {
  path: "yara_rules",
  name: "YARA rules",
  thing: "rules",
  purpose: "Files of rules that queries of the table yara use by their name.",
  nameOf: ({ name }) => name,
  blank: { name: "", contents: "" },
  fields: [
    { path: "name", label: "Name of the file", kind: "text", hint: "such as malware.yar" },
    { path: "contents", label: "Rules", kind: "document" },
  ],
  columns: [
    { name: "Name", cell: ({ name }) => name },
    { name: "Characters", cell: ({ contents }) => contents.length, isNumber: true },
  ],
  empty: "There are no rules.",
  deletion: "Queries that use these rules no longer work.",
};

export const entryLists = [ticketTrackers, helpDesks, calendars, yaraRules] as const;
