// The page that shows the commands with which new hosts install the agent.

import { usersApi } from "../../../../api/accounts/users.ts";
import { type EnrollToken, newHostsApi } from "../../../../api/delivery/new-hosts.ts";
import { isPremium } from "../../../platform/core/context.ts";
import { ApiError, forbidden } from "../../../platform/core/errors.ts";
import { may, maySomewhere } from "../../../platform/core/security/access.ts";
import { call } from "../call.ts";
import { errorSentence } from "../error-page.ts";
import { type Html, html } from "../html.ts";
import type { Answer, PageContent, Visit } from "../page.ts";
import { alert, type Choice, good, moment, select } from "../parts.ts";

export const ADD_HOSTS = "/add-hosts";

const lifetimes: readonly Choice[] = [
  { value: "1h", text: "an hour" },
  { value: "24h", text: "a day" },
  { value: "7d", text: "a week" },
];

const signing: readonly Choice[] = [
  { value: "", text: "by sending a key of its own" },
  { value: "on", text: "by signing requests with a certificate" },
];

const platforms: readonly {
  readonly key: keyof EnrollToken["commands"];
  readonly name: string;
  readonly where: string;
}[] = [
  { key: "linux", name: "Linux", where: "In a terminal:" },
  { key: "macos", name: "macOS", where: "In the Terminal:" },
  { key: "windows", name: "Windows", where: "In a PowerShell that was started as administrator:" },
];

/** The teams into which the viewer may enroll hosts. */
async function teamsOf({ ctx }: Visit): Promise<Choice[]> {
  const { user } = ctx;
  const { available_teams: teams } = isPremium(ctx) ? await call(ctx, usersApi.me) : { available_teams: [] };
  return [
    ...(may(user, "enroll_secrets:read", null) ? [{ value: "0", text: "No team" }] : []),
    ...teams
      .filter(({ id }) => may(user, "enroll_secrets:read", id))
      .map(({ id, name }) => ({ value: String(id), text: name })),
  ];
}

export const addHostsPage = (visit: Visit): Promise<Answer> => shown(visit, {});

/** Each form makes a token, which is shown once. */
export async function makeEnrollCommands(visit: Visit): Promise<Answer> {
  const { ctx, form } = visit;
  const [team, expires_in] = [form.get("team_id") ?? "0", form.get("expires_in") ?? "24h"];
  if (!/^\d{1,15}$/.test(team)) return shown(visit, { refused: "Select a team." });
  try {
    return await shown(visit, {
      token: await call(ctx, newHostsApi.createToken, {
        body: { team_id: Number(team), expires_in, sign_requests: form.get("sign_requests") === "on" },
      }),
    });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || error.status === 401) throw error;
    return shown(visit, { refused: errorSentence(error), status: error.status });
  }
}

interface FormOutcome {
  readonly token?: EnrollToken;
  readonly refused?: string | Html;
  readonly status?: number;
}

async function shown(visit: Visit, { token, refused, status }: FormOutcome): Promise<PageContent> {
  const { ctx, form } = visit;
  if (!maySomewhere(ctx.user, "enroll_secrets:read")) throw forbidden();
  const teams = await teamsOf(visit);
  const team = form.get("team_id") ?? teams[0]?.value ?? "0";
  return {
    title: "Add hosts",
    script: token !== undefined,
    ...(status === undefined ? {} : { status }),
    body: html`<h1>Add hosts</h1>
${refused !== undefined && alert(refused)}
<section class="card" aria-labelledby="command"><h2 id="command">Install the agent</h2>
<p>A command installs the agent on a computer and enrolls it. The computer needs <a href="https://nodejs.org">Node.js</a> 20.19 or newer.</p>
<form class="row" method="post" action="${ADD_HOSTS}">${visit.csrf()}
${teams.length > 1 ? select("team_id", "Team", team, teams) : html`<input type="hidden" name="team_id" value="${team}">`}
${select("expires_in", "Can be used for", form.get("expires_in") ?? "24h", lifetimes)}
${select("sign_requests", "The agent proves which host it is", form.get("sign_requests") ?? "", signing)}
<button>Show commands</button></form></section>
${token !== undefined && commandsCard(token, teams)}`,
  };
}

function commandsCard({ commands, expires_at, team_id, agent_sha256 }: EnrollToken, teams: readonly Choice[]): Html {
  const team = teams.find(({ value }) => value === String(team_id));
  return html`<section class="card" aria-labelledby="commands"><h2 id="commands">Commands${team !== undefined && html` for ${team.text}`}</h2>
${
  agent_sha256 === null
    ? alert("This server has no file of the agent, because it was not built. Run npm run build where it is installed.")
    : good(
        html`Copy the command now: it is shown only once. It works until ${moment(expires_at)}, on any number of computers.`,
      )
}
${platforms.map(
  ({ key, name, where }) => html`<h3>${name}</h3><p class="small quiet">${where}</p>
<code class="token" id="command-${key}">${commands[key]}</code>
<p><button type="button" class="plain" data-copy="command-${key}" data-status="copied-${key}" hidden>Copy<span class="hidden"> the command for ${name}</span></button> <span id="copied-${key}" role="status"></span></p>`,
)}
${agent_sha256 !== null && html`<p class="small quiet">SHA-256 of the <a href="/enroll/agent.mjs">agent</a>: <code>${agent_sha256}</code></p>`}</section>`;
}
