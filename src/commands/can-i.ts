import { type Action, actions, allowsSomewhere, teamsFor } from "../api/access.ts";
import { usersApi } from "../api/users.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { denied, usage } from "../cli/errors.ts";
import { args, teamFlag } from "../cli/flags.ts";
import { nearest } from "../cli/suggest.ts";

const names = Object.keys(actions);
const isAction = (text: string): text is Action => Object.hasOwn(actions, text);

export default class CanI extends ClientCommand {
  static override summary = "Tell whether your role allows an action; without one, list them all.";
  static override description = "An action is RESOURCE:VERB. The exit code is 0 for yes and 4 for no.";
  static override args = { action: args.optional("e.g. hosts:delete") };
  static override flags = { ...teamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> hosts:delete"];

  async run() {
    const { args: given, flags } = await this.parse(CanI);
    const action = given.action;
    if (action !== undefined && !isAction(action)) {
      const near = nearest(action, names);
      throw usage(`there is no action ${action}`, near ? `Did you mean ${near}?` : `Actions: ${names.join(", ")}`);
    }
    const { user } = await this.call(usersApi.me);
    const team = flags.team === undefined ? null : await this.team(flags.team);
    const where = (one: Action): string => {
      const teams = teamsFor(user, one);
      if (teams === "all") return "everywhere";
      const held = user.teams.filter(({ id }) => teams.includes(id) && (team === null || id === team.id));
      return held.map(({ name }) => name).join(", ");
    };
    const allowed = (one: Action) => (team === null ? allowsSomewhere(user, one) : where(one) !== "");
    if (action === undefined) {
      const rows = names.filter(isAction).map((one) => ({ action: one, allowed: allowed(one), where: where(one) }));
      const yes = { key: "allowed", text: (value: unknown) => (value === true ? "yes" : "no") };
      return this.printList(rows, { columns: [{ key: "action" }, yes, { key: "where" }] });
    }
    if (!allowed(action)) {
      throw denied(
        `no: ${user.email} may not do ${action}${team ? ` on team ${team.name}` : ""}`,
        "An admin can change your role.",
      );
    }
    if (this.structured) await this.printOne({ action, allowed: true, where: where(action) });
    else this.log(where(action) === "everywhere" ? "yes" : `yes, on ${where(action)}`);
  }
}
