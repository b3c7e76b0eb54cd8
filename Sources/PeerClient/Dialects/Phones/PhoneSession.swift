import PeerProtocol

/// A session with one phone, in which each request uses a connection of its own.
struct PhoneSession<Reader: PhoneReader>: PeerSession {
  let settings: PullSettings
  let reader: Reader
  var limits: ClientLimits { reader.limits }

  func prepareToStartOver() async throws {
    _ = try await settings.persons?.admit(phone: settings.server, into: settings.store)
  }

  func answer(since position: String?, wait: Int?) async throws -> any IncomingAnswer {
    let owner = try await settings.persons?.admit(phone: settings.server, into: settings.store)
    var known = Reader.Position()
    if let position {
      guard let read = Reader.Position(position) else { throw PeerError.tokenGone }
      known = read
    }
    if let wait { try await reader.clock.sleep(for: .seconds(reader.pause(wait))) }
    return PhoneAnswer(reader, settings, known, isHurried: wait != nil, owner: owner)
  }
}
