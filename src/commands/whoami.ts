import { User, usersApi } from "../api/accounts/users.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { userView } from "../cli/topics/users.ts";

const Me = User.extend({ server: User.shape.email, context: User.shape.email.nullable() });

export default class Whoami extends ClientCommand {
  static override summary = "Show the user and the server that you are signed in with.";
  static override endpoints = [usersApi.me];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(Whoami);
    const { serverUrl, contextName } = await this.connection();
    const { user } = await this.call(usersApi.me);
    await this.printOne(
      { ...user, server: serverUrl, context: contextName },
      { schema: () => Me, columns: [...userView.columns, { key: "server" }, { key: "context" }] },
    );
  }
}
