/// Every way to log in, for each server program.
extension Case {
  static let credentials: [Case] = keys + certificates + securityKeys + passwords

  private static let keys = KeyKind.ordinary.flatMap { kind in
    KeyFormat.allCases.filter { kind.canBeStored(as: $0) }.flatMap { format in
      Login.Holder.allCases.map { holder in
        Case("\(kind.name), \(format.rawValue), \(holder.rawValue)") {
          $0.login = .key(kind, format, holder)
        }
      }
    }
  }

  private static let certificates = [KeyKind.ed25519, .ecdsa256, .rsa2048].flatMap { kind in
    Login.Holder.allCases.map { holder in
      Case("\(kind.name) with a certificate, \(holder.rawValue)") {
        $0.login = .certificate(kind, holder)
      }
    }
  }

  private static let securityKeys = KeyKind.securityKeys.flatMap { kind in
    Login.Holder.allCases.map { holder in
      Case("\(kind.name), \(holder.rawValue)") { $0.login = .securityKey(kind, holder) }
    }
  }

  private static let passwords = [
    Case("password") { $0.login = .password },
    Case("keyboard-interactive") { $0.login = .keyboardInteractive },
    Case("publickey, then password") { $0.login = .keyThenPassword },
  ]
}
