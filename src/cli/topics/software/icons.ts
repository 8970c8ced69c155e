// What commands for the icons of software titles share.
import { ApiCallError } from "../../../client/errors.ts";
import { failed } from "../../errors.ts";

/** A redirect to the store's icon is an error: commands download from their server only. */
export async function ownIcon<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof ApiCallError) || error.status !== 302) throw error;
    throw failed(
      "this server has no icon of the title: users see that of the store",
      "`svc software get TITLE --team TEAM -o json` shows its address as icon_url.",
    );
  }
}
