import { type Action, actions, allowsSomewhere, sameAs, teamsFor } from "../api/access.ts";
import { usersApi } from "../api/accounts/users.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { denied, usage } from "../cli/errors.ts";
import { args, isNoTeam, teamFlag } from "../cli/flags.ts";
import { nearest } from "../text/nearest.ts";

const named: Readonly<Record<string, Action>> = {
  ...(Object.fromEntries(Object.keys(actions).map((name) => [name, name])) as Record<Action, Action>),
  ...sameAs,
};
const names = Object.keys(named);
const isAction = (text: string): boolean => Object.hasOwn(named, text);

interface Answer {
  readonly allowed: boolean;
  /** The scope: everywhere, or the names of teams. */
  readonly where: string;
  /** The reason for a no, if it is not the role. */
  readonly because?: string;
}

export default class CanI extends ClientCommand {
  static override summary =
    "Check whether you may perform an action or call an endpoint; without an argument, list all actions.";
  static override description =
    "An action is RESOURCE:VERB, an endpoint METHOD PATH. The result depends on your role and on the limits of the API token that you " +
    "use. --team 0 means objects without a team. The exit code is 0 for yes and 4 for no.";
  static override endpoints = [usersApi.me];
  static override args = { action: args.optional("e.g. hosts:delete, or 'POST /hosts/:id/wipe'") };
  static override flags = { ...teamFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> hosts:delete",
    "<%= config.bin %> <%= command.id %> 'POST /hosts/:id/wipe' --team Workstations",
  ];

  async run() {
    const { args, flags } = await this.parse(CanI);
    const question = args.action?.trim();
    // Checked without a call to the server, which need not be reachable for a typing error.
    if (question !== undefined && !/\s/.test(question)) checkAction(question);
    const { user, token } = await this.call(usersApi.me);
    const team = flags.team === undefined ? null : await this.#teamOrNone(flags.team);
    const answer = (action: Action, global = false): Answer => {
      if (global && user.global_role === null)
        return { allowed: false, where: "", because: "it requires a global role" };
      const teams = teamsFor(user, action);
      if (teams === "all") return { allowed: true, where: "everywhere" };
      const held = user.teams.filter(({ id }) => teams.includes(id) && (team === null || id === team.id));
      const allowed = team === null ? allowsSomewhere(user, action) : held.length > 0;
      return { allowed, where: held.map(({ name }) => name).join(", ") };
    };
    if (question === undefined) return this.#list((action) => answer(action));
    const verdict = isAction(question)
      ? answer(named[question]!)
      : await this.#ofEndpoint(question, answer, token?.endpoints ?? null);
    if (!verdict.allowed) {
      throw denied(
        `no: ${user.email} may not do ${question}${team ? ` on ${team.text}` : ""}${verdict.because ? `: ${verdict.because}` : ""}`,
        "An admin can change your role.",
      );
    }
    if (this.structured) await this.printOne({ action: question, allowed: true, where: verdict.where });
    else this.log(verdict.where === "everywhere" ? "yes" : `yes, on ${verdict.where}`);
  }

  async #teamOrNone(text: string): Promise<{ readonly id: number; readonly text: string }> {
    if (isNoTeam(text)) return { id: 0, text: "objects without a team" };
    const { id, name } = await this.team(text);
    return { id, text: `team ${name}` };
  }

  async #list(answer: (action: Action) => Answer): Promise<void> {
    const rows = names.map((action) => ({ action, ...answer(named[action]!) }));
    const yes = { key: "allowed", text: (value: unknown) => (value === true ? "yes" : "no") };
    return this.printList(rows, { columns: [{ key: "action" }, yes, { key: "where" }] });
  }

  async #ofEndpoint(
    text: string,
    answer: (action: Action, global?: boolean) => Answer,
    limits: readonly string[] | null,
  ): Promise<Answer> {
    const [{ allEndpoints }, { cleanPattern, findEndpoint, namesEndpoint }] = await Promise.all([
      import("../api/all.ts"),
      import("../api/endpoint-patterns.ts"),
    ]);
    const patternText = cleanPattern(text);
    const all = allEndpoints.map(({ endpoint }) => endpoint);
    const endpoint = findEndpoint(patternText, all);
    if (!endpoint) {
      const near = nearest(patternText, new Set(all.map(({ method, path }) => `${method} ${path}`)));
      throw usage(`there is no endpoint ${patternText}`, near ? `Did you mean ${near}?` : "`svc openapi` lists them.");
    }
    const { access, method, path } = endpoint;
    const limited = limits !== null && !limits.some((pattern) => namesEndpoint(pattern, endpoint));
    if (limited && access !== "none" && `${method} ${path}` !== "GET /me")
      return { allowed: false, where: "", because: "the API token that you use is limited to other endpoints" };
    if (typeof access === "string") return { allowed: true, where: "everywhere" };
    return answer(access.action, access.scope === "global");
  }
}

function checkAction(text: string): void {
  if (isAction(text)) return;
  const near = nearest(text, names);
  throw usage(`there is no action ${text}`, near ? `Did you mean ${near}?` : `Actions: ${names.join(", ")}`);
}
