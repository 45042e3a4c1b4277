extension HelpTopic {
  static let jobs = HelpTopic(
    name: "jobs", summary: "How a command finds the job you mean (JOB).",
    text: """
      JOB is, tried in this order:

        k3f9x2m1q8zt   a job's id: 12 letters and digits
        @  @2  @dev1   the newest job, the one before, the newest on dev1
        nightly        the name you gave it with --name
        k3f            the beginning of an id, if only one job has it

      When it could be several, pocket lists them and does nothing (exit 64).
      """)

  static let settings = HelpTopic(
    name: "settings", summary: "Where host, agent, ssh_config and transport are set.",
    text: """
                    a flag       the environment    a file
        host        -H dev1      POCKET_HOST        host
        agent       -a claude    POCKET_AGENT       agent
        ssh_config  -F FILE      POCKET_SSH_CONFIG  sshConfig (config.json5 only)
        transport   --transport  POCKET_TRANSPORT   transport

      The first that is set counts: a flag, the environment, .pocket.json5 (here or
      in the nearest folder above), $XDG_CONFIG_HOME/pocket/config.json5 (else
      ~/.config/pocket/config.json5). Both files are JSON5:

        { host: "dev1", agent: "claude" }   // comments are fine

      transport is what carries the connection: `libssh2`, built in; `openssh`, your
      own ssh program with all that it can do; or `auto`, where ssh goes on when
      host or key ask for what libssh2 cannot do.

      Also heeded: POCKET_HOME (where the store is; else $XDG_STATE_HOME/pocket),
      VISUAL and EDITOR (to write a prompt), SSH_AUTH_SOCK (the agent with your
      keys), SSH_ASKPASS and SSH_ASKPASS_REQUIRE (a program that asks for passwords,
      as for ssh), NO_COLOR and TERM=dumb (no colour, no live line), COLUMNS.
      """)

  static let exitCodes = HelpTopic(
    name: "exit-codes", summary: "What the numbers mean.",
    text: """
      run, resume, wait: the job's own code, 128+N when signal N ended it, and

        124  it ran for longer than its --timeout
        125  pocket failed, or the job is lost
        126  the command cannot be run        127  the command was not found
        130  let go of with Ctrl-C: the job lives on, if it had been started
        143  the job was cancelled
        153  it was ended at its --max-output

      cancel:   0  proved dead    1  something survived   75  queued: the host is away
      verify:   0  equal          1  different            3  equal, but with gaps

      All:     64  the command line cannot be understood
               77  the host's key changed or was revoked
              255  the host is unreachable, or refused to let us in

      --json tells apart what a code cannot.
      """)
}
