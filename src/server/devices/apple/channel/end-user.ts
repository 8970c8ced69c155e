/** Facts of the identity with which a device enrolls: who had signed in before. */
export const endUserFacts = { email: "end_user", name: "end_user_name" } as const;
