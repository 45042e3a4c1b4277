import Agents

extension HostFacts {
  /// What is to be said of each agent.
  func agentFindings(_ agents: [any Agent]) -> [Finding] {
    agents.flatMap { agent in
      guard let found = all("agent", of: agent.name).first, let path = found.value(0) else {
        return [Finding(agent.name, .ok, "not found, on no PATH there")]
      }
      return [version(of: agent, at: path, isOnLoginPath: found.value(1) == "login"), login(agent)]
    }
  }

  private func version(of agent: any Agent, at path: String, isOnLoginPath: Bool) -> Finding {
    let name = agent.name
    if !isOnLoginPath {
      return Finding(
        name, .failure, "\(path) is on the PATH of an interactive shell only: jobs do not find it",
        remedy: "add its folder to PATH in ~/.bash_profile or ~/.profile")
    }
    let range = agent.tested
    let tested =
      range.lowerBound == range.upperBound
      ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    guard let answer = all("version", of: name).first?.value(0),
      let version = AgentVersion(answer: answer)
    else {
      return Finding(
        name, .warning, "\(path) did not say its version within 10 s",
        remedy: "run `\(name) --version` there")
    }
    if agent.tested.contains(version) { return Finding(name, .ok, "\(version), \(path)") }
    return Finding(
      name, .warning, "\(version), \(path), is not a version that was tested (\(tested))",
      remedy: "what it prints may be understood in part only; the output is kept as it is")
  }

  private func login(_ agent: any Agent) -> Finding {
    let subject = "\(agent.name) login"
    let places = all("credentials", of: agent.name).compactMap { $0.value(0) }
    if !places.isEmpty {
      return Finding(subject, .ok, "kept in \(places.joined(separator: ", ")) (not tried)")
    }
    // There it may be in the keychain, which asks the user before it answers.
    if text("system")?.hasPrefix("Darwin") == true {
      return .unknown(subject, "the keychain was not asked")
    }
    let credentials = agent.credentials
    let variable = credentials.variables.first ?? ""
    return Finding(
      subject, .warning, "no sign of one (~/\(credentials.folder)/\(credentials.file), variables)",
      remedy: "run `\(agent.name)` there and log in, or give each job a key: --env \(variable)")
  }
}

extension Agent {
  /// What the script is given of an agent: `program:VARIABLE:folder:file:NAME...`.
  var doctorArgument: String {
    let places = [credentials.folderVariable, credentials.folder, credentials.file]
    return ([name] + places + credentials.variables).joined(separator: ":")
  }
}
