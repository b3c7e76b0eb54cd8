import AgeEncryption

extension FuzzTarget {
  private static let ageKey = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"

  /// Fuzzes the age reader: the result doesn't depend on how the file is divided, and a truncated file is never
  /// accepted.
  @Sendable static func ageFile(_ input: [UInt8]) {
    let keys: [AgeKey]
    do { keys = try AgeKey.all(in: ageKey) } catch { fatalError("broken promise: a key is one: \(error)") }
    let (whole, divided) = (
      decrypted(input, keys, step: 1 << 16), decrypted(input, keys, step: 1 + Int(input.first ?? 0))
    )
    require(whole == divided, "the same content")
    guard whole != nil, !input.starts(with: "-----".utf8) else { return }
    require(decrypted(Array(input.dropLast()), keys, step: 1 << 16) == nil, "an end that is missing is noticed")
    // A passphrase would take its time.
    let text = text(input)
    if let key = try? AgeKey.all(in: text).first, let spelled = key.text {
      require(text.uppercased().contains(spelled), "a key has one spelling")
    }
    if let recipient = try? AgeRecipient(text), case .publicKey = recipient {
      require(text.hasPrefix("age1"), "a recipient")
    }
  }

  private static func decrypted(_ input: [UInt8], _ keys: [AgeKey], step: Int) -> [UInt8]? {
    var rest = input[...]
    do {
      let reader = try AgeReader { count in
        defer { rest = rest.dropFirst(min(count, step)) }
        return Array(rest.prefix(min(count, step)))
      }
      if reader.isForPassphrase { return nil }
      try reader.unlock(keys)
      var result: [UInt8] = []
      while let piece = try reader.read() { result += piece }
      return result
    } catch let error as AgeError {
      require(!error.description.isEmpty, "a sentence for every error")
      return nil
    } catch {
      fatalError("broken promise: an error of its own: \(error)")
    }
  }
}
