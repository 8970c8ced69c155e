import * as Flags from "@oclif/core/flags";
import { Session, sessionsApi } from "../../api/accounts/sessions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { timeColumn } from "../../cli/output/time-column.ts";

/** API tokens are shown with their names. */
const nameOf = (kind: string, row: unknown): string =>
  typeof row === "object" && row !== null && "name" in row && row.name !== "" ? `${kind} ${row.name}` : kind;

export default class SessionsList extends ClientCommand {
  static override summary = "List a user's sessions and API tokens: your own, or another's.";
  static override endpoints = [sessionsApi.listOfUser];
  static override flags = {
    user: Flags.string({ summary: "User, by id, email or name.", default: "me", helpValue: "USER" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { flags } = await this.parse(SessionsList);
    const { id } = await this.user(flags.user);
    const { sessions } = await this.call(sessionsApi.listOfUser, { params: { id } });
    await this.printList(sessions, {
      schema: () => Session,
      columns: [
        { key: "session_id", header: "id" },
        { key: "kind", text: (kind, row) => nameOf(String(kind), row) },
        timeColumn("created_at", "opened", this.relativeTimes, this.io.now()),
        timeColumn("accessed_at", "last used", this.relativeTimes, this.io.now()),
        { key: "expires_at", header: "ends" },
        { key: "address" },
        { key: "user_agent", header: "client" },
        { key: "current", text: (value) => (value === true ? "this one" : "") },
      ],
    });
  }
}
