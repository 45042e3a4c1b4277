@testable import pocket

extension HelpTests {
  static let rootPage = """
    Runs long jobs on servers you already have, over ssh. The job lives on when the
    connection does not, and pocket picks its output up again at the exact byte.

    Examples:
      pocket run -H dev1 -- make test               run any command on dev1
      pocket run -H dev1 -a claude "Fix the build"  give an agent a prompt
      pocket resume @                               follow the newest job again
      pocket cancel @                               end it, and prove it
      pocket                                        what needs you, runs, has ended

    Usage:
      pocket [<command>]

    Commands:
      run          Start a job on a host, and follow it.
      resume       Follow a job again, from where you were to its end.
      cancel       End jobs with all they started, and prove it.
      ls           List the jobs.
      show         Show all that is known of a job.
      logs         Print what is stored of a job's output.
      wait         Wait until jobs are over, and print nothing.
      verify       Compare the stored output with the host's files.
      rm           Remove jobs that are over, on the host and here.
      prune        Remove jobs that ended long ago, on their hosts and here.
      adopt        Take over jobs that another device started on a host.
      hosts        List the hosts of your ssh_config, and what is known of each.
      doctor       Look for what may go wrong, here and on a host.
      backup       Copy the whole store into a new file.
      completions  Print what makes a shell complete pocket's words.

    Options:
          --json     one JSON object a line, errors too
          --version  show pocket's version
      -h, --help     show this page

    Topics:
      help jobs        How a command finds the job you mean (JOB).
      help settings    Where host, agent, ssh_config and transport are set.
      help exit-codes  What the numbers mean.

    """

  static let runPage = #"""
    Start a job on a host, and follow it.

    Examples:
      pocket run -H dev1 -- make test                any command
      pocket run -H dev1 -C src/app -d -- ./soak.sh  in a directory; do not wait
      pocket run -a claude "Fix the login test"      an agent, with a prompt
      pocket run -a codex - < task.md                the prompt from a file
      pocket run --timeout 2h -- make soak           ended by its host after 2 h

    Usage:
      pocket run [<option>…] <prompt> | -
      pocket run [<option>…] -- <command>…

    Options:
      -H, --host HOST          where: a name from your ssh_config, or user@name:port
      -a, --agent NAME         the agent that gets the prompt
      -C, --cd DIR             run it there; relative to your home on the host
      -n, --name NAME          a name for the job: A-Z a-z 0-9 . _ -
      -d, --detach             do not follow: print the job's id and leave
          --env NAME           send this variable's value here, as a secret
          --env-file FILE      send this file's NAME=VALUE lines, as secrets
          --agent-arg ARG      one more argument for the agent itself
          --line-buffered      let the command write line by line (stdbuf -oL)
          --timeout TIME       end it after 45s, 90m, 2h or 3d, connected or not
          --max-output SIZE    end a stream at 64k, 500M or 2G, with a marker line
          --on-max-output HOW  stop (default): end the job; discard: let it go on
      -F, --ssh-config FILE    this ssh_config in place of your own
          --transport ENGINE   auto, libssh2, or openssh: your own ssh carries it
          --json               raw event lines, then a JSON object on stderr
      -h, --help               show this page

    Without a prompt, $VISUAL or $EDITOR opens. Ctrl-C lets go and the job lives on;
    `pocket resume` follows it again. Where host and agent are set:
    pocket help settings

    Exit: the job's own code; others: pocket help exit-codes.

    """#
}
