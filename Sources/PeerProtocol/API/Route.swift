/// The paths that a server answers.
public enum Route {
  public static let status = "/status"
  public static let openAPI = "/openapi.yaml"
  public static let pairHello = PairingProtocol.helloPath
  public static let pairStart = PairingProtocol.startPath
  public static let pairFinish = PairingProtocol.finishPath
  public static let plainPair = "/api/v1/pair"
  public static let types = "/health/types"
  public static let data = "/health/data"
  public static let changes = "/api/v2/changes"
  public static let digest = "/api/v2/digest"
  public static let person = "/api/v2/person"
  public static let pairing = "/api/v2/pairing"

  /// The port that `hpeer serve` listens on unless told otherwise.
  public static let defaultPort = 8737
}
