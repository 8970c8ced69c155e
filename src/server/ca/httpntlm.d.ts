// What is used of the package, which has no types of its own.
declare module "httpntlm/ntlm.js" {
  interface Credentials {
    domain: string;
    workstation: string;
    username: string;
    password: string;
  }
  interface Type2 {
    serverChallenge: Buffer;
  }
  const ntlm: {
    createType1Message(given: { domain: string; workstation: string }): string;
    parseType2Message(header: string, onError: (error: Error) => void): Type2 | null;
    createType3Message(message: Type2, given: Credentials): string;
  };
  export default ntlm;
}
