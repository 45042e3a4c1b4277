import TestSupport

/// What is broken at one step.
enum Fault: String, CaseIterable, Sendable {
  case breakLaunch
  case killClient, stopClient, interruptClient, secondClient
  case cancel, cancelWhileAway
  case killSession, stopSession, killHostScript
  case restartServer, killServer
  case killLeader, stopLeader, killSupervisor, stopSupervisor, killBoth
  case resetLink, finishLink, cutSoon, freezeLink, dropOneWay, slowLink, refuseLinks

  /// How often it is drawn, beside the others.
  private var weight: Int {
    switch self {
    case .killClient: 16
    case .breakLaunch: 12
    case .killSession, .killHostScript: 9
    case .cutSoon, .resetLink, .cancel, .killLeader: 8
    case .secondClient: 6
    case .killSupervisor, .finishLink, .freezeLink, .stopClient: 5
    case .stopSession, .interruptClient, .slowLink: 4
    case .restartServer, .killServer, .cancelWhileAway, .killBoth, .stopLeader, .stopSupervisor: 3
    case .dropOneWay, .refuseLinks: 3
    }
  }

  static func random(using random: inout SeededRandom) -> Fault {
    var left = Int.random(in: 0..<allCases.reduce(0) { $0 + $1.weight }, using: &random)
    return allCases.first { fault in
      left -= fault.weight
      return left < 0
    }!
  }
}
