// Texts of tickets. Trackers limit their length (Jira to 32,767 characters), so excess hosts are only counted.
import type { TicketText } from "./trackers.ts";

interface Host {
  readonly display_name: string;
  readonly url: string;
}

const SUMMARY = 250;
const DESCRIPTION = 30_000;
const MAX_HOSTS = 200;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
/** Host names come from hosts, so they must not become links, mentions or images in a tracker that renders markup. */
const withoutMarkup = (text: string): string =>
  oneLine(
    text
      .replaceAll(/[[{<]/g, "(")
      .replaceAll(/[\]}>]/g, ")")
      .replaceAll(/[|!]/g, " "),
  );
const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 3)}...` : text);
const counted = (n: number): string => `${n} ${n === 1 ? "host" : "hosts"}`;

function listed(hosts: readonly Host[], room: number): string {
  const lines: string[] = [];
  for (const { display_name, url } of hosts.slice(0, MAX_HOSTS)) {
    const line = `- ${cut(withoutMarkup(display_name), 200)} ${url}`;
    room -= line.length + 1;
    if (room < 0) break;
    lines.push(line);
  }
  const more = hosts.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

function ticket(summary: string, paragraphs: readonly string[], hosts: readonly Host[]): TicketText {
  const above = cut(paragraphs.filter(Boolean).join("\n\n"), DESCRIPTION / 2);
  return {
    summary: cut(oneLine(summary), SUMMARY),
    description: `${above}\n\n${listed(hosts, DESCRIPTION - above.length - 100)}`,
  };
}

export const policyTicket = (
  policy: {
    readonly name: string;
    readonly description: string;
    readonly resolution: string;
    readonly critical: boolean;
  },
  hosts: readonly Host[],
  teamName: string | null,
): TicketText =>
  ticket(
    `${policy.critical ? "Critical policy" : "Policy"} "${oneLine(policy.name)}" fails on ${counted(hosts.length)}`,
    [
      policy.description,
      policy.resolution && `Resolution: ${policy.resolution}`,
      `${counted(hosts.length)}${teamName === null ? "" : ` of team ${oneLine(teamName)}`} newly failed this policy:`,
    ],
    hosts,
  );

interface Cve {
  readonly cve: string;
  readonly link: string;
  readonly details: {
    readonly cvss_score: number | null;
    readonly epss_probability: number | null;
    readonly cisa_known_exploit: boolean | null;
    readonly cve_published: string | null;
    readonly cve_description: string | null;
  } | null;
}

const severity = ({ details }: Cve): string =>
  details === null
    ? ""
    : [
        details.cvss_score === null ? [] : `CVSS score: ${details.cvss_score}`,
        details.epss_probability === null
          ? []
          : `Probability that it is exploited (EPSS): ${(details.epss_probability * 100).toFixed(1)} %`,
        details.cisa_known_exploit ? "It is known to be exploited (CISA)." : [],
        details.cve_published === null ? [] : `Published: ${details.cve_published.slice(0, 10)}`,
      ]
        .flat()
        .join("\n");

export const cveTicket = (about: Cve, hosts: readonly Host[]): TicketText =>
  ticket(
    `Vulnerability ${about.cve} found on ${counted(hosts.length)}`,
    [
      about.link,
      withoutMarkup(about.details?.cve_description ?? ""),
      severity(about),
      `Software or an operating system with this vulnerability is installed on ${counted(hosts.length)}:`,
    ],
    hosts,
  );
