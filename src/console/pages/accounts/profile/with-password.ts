import { ApiCallError } from "../../../../client/errors.ts";

/** Sends what needs the current password. The server refuses a wrong one as it refuses requests without rights. */
export async function withPassword<Reply>(send: () => Promise<Reply>): Promise<Reply> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ApiCallError) || error.status !== 403) throw error;
    throw new ApiCallError(403, error.message, {
      errors: [{ name: "password", reason: "is not your current password" }],
    });
  }
}
