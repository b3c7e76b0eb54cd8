import PeerProtocol

extension FuzzTarget {
  @Sendable static func changeToken(_ input: [UInt8]) {
    let spelling = text(input)
    guard let token = ChangeToken(spelling) else { return }
    require(token.text == spelling, "a token has one spelling")
    require(token.change >= 0, "a token counts up")
  }
}
