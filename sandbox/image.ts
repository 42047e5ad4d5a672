/** The default image for code and workspaces; sandbox/buildImage.sh builds it. */
export const sandboxImage = 'work-ledger-sandbox';
