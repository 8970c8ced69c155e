// The mail about hosts that newly fail policies of one team.
import { plural } from "../../../text/plural.ts";
import { inSentence, letter } from "../../platform/mail/messages.ts";
import type { Letter } from "../../platform/mail/smtp.ts";

/** Names that a mail lists at most. */
export const POLICIES_MAX = 50;
export const HOSTS_MAX = 20;

export interface FailingPolicy {
  readonly id: number;
  readonly name: string;
  /** The first hosts by id. */
  readonly hosts: readonly string[];
  readonly hosts_count: number;
}

/** What a row of the outbox contains. */
export interface Digest {
  readonly to: string;
  /** Team, with the API's values: null is global, 0 is hosts without a team. */
  readonly team_id: number | null;
  readonly team_name: string | null;
  readonly policies: readonly FailingPolicy[];
  readonly policies_count: number;
}

const andMore = (shown: number, all: number): string => (all > shown ? ` and ${all - shown} more` : "");

const SUBJECT_MAX = 150;

export function digestLetter(digest: Digest, serverUrl: string, unsubscribeUrl: string): Letter {
  const { to, team_id, team_name, policies, policies_count } = digest;
  const place = team_name === null ? "" : ` of ${inSentence(team_name)}`;
  const names = policies.map(({ name }) => inSentence(name));
  const subject = `Hosts fail ${plural(policies_count, "policy", "policies")}${place}: ${names.join(", ")}`;
  const filter = (id: number) =>
    `${serverUrl}/hosts?policy_id=${id}&policy_response=failing${team_id === null ? "" : `&team_id=${team_id}`}`;
  const paragraph = ({ id, name, hosts, hosts_count }: FailingPolicy): string =>
    `${inSentence(name)} (${plural(hosts_count, "host")}): ${hosts.map(inSentence).join(", ")}${andMore(hosts.length, hosts_count)}. ${filter(id)}`;
  return {
    ...letter(to, {
      subject: subject.length > SUBJECT_MAX ? `${subject.slice(0, SUBJECT_MAX)}...` : subject,
      before: [
        `Hosts newly fail ${plural(policies_count, "policy", "policies")}${place}.`,
        ...policies.map(paragraph),
        ...(policies_count > policies.length
          ? [`${policies_count - policies.length} more policies are not listed.`]
          : []),
      ],
      link: { label: "Hosts", url: team_id === null ? `${serverUrl}/hosts` : `${serverUrl}/hosts?team_id=${team_id}` },
      after: [`Unsubscribe from these mails: ${unsubscribeUrl}`],
    }),
    unsubscribeUrl,
  };
}
