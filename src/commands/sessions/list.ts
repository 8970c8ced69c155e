import * as Flags from "@oclif/core/flags";
import { Session, sessionsApi } from "../../api/sessions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { timeColumn } from "../../cli/host-view.ts";

export default class SessionsList extends ClientCommand {
  static override summary = "List a user's sessions: your own, or another's.";
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
      schema: Session,
      columns: [
        { key: "session_id", header: "id" },
        { key: "user_id", header: "user" },
        timeColumn("created_at", "signed in", this.relativeTimes, this.io.now()),
      ],
    });
  }
}
