import HealthModel

/// What another machine's answers may take of this one: memory, time and requests in vain.
///
/// A server may be hostile, paired or merely announced, so nothing here depends on good will: every buffer and every wait
/// that an answer can cause ends at one of these numbers, where the memory is taken. Together they keep a client within
/// 160 MiB. The twin of `ServingLimits`, which bounds what a client may take of a server.
public struct ClientLimits: Hashable, Sendable {
  // MARK: Any answer

  /// Maximum bytes of an answer that are not its body: status lines and header fields, also of 1xx responses, chunk
  /// sizes, chunk extensions and trailer fields (RFC 9112).
  public var framingBytes = 64 * 1024
  /// Further framing bytes allowed for each byte of the body; a body in chunks of one byte has five.
  public var framingPerBodyByte = 8
  /// Maximum bytes of a body that is a message, or says what failed. hpeer's have some hundred.
  public var bodyBytes = 256 * 1024
  /// Maximum Unicode scalars shown of a message that a server wrote.
  public var messageLength = 200

  /// Maximum bytes of a page of samples that an app on a phone sends: a thousand with all their metadata, or ten thousand
  /// without, have some two million.
  public var appAnswerBytes = 16 << 20

  // MARK: The change feed

  /// Maximum bytes of one compressed batch in columns.
  public var frameBytes = 28 << 20
  /// Maximum bytes of a batch when it is decompressed, or of its lines. hpeer's have at most some six million and the
  /// one sample that exceeds them; the longest that an import makes of Apple's exports are parts of routes, with some
  /// fifteen million.
  public var batchBytes = 28 << 20
  /// Decompressed size up to which any compression ratio is accepted; beyond it, ``expansion`` is the maximum.
  public var freelyExpandedBytes = 8 << 20
  /// Maximum compression ratio of a batch larger than ``freelyExpandedBytes``. hpeer's largest batches have some ten.
  public var expansion = 100
  /// Maximum samples and tombstones of a batch. hpeer sends at most 5,000.
  public var batchChanges = 50_000
  /// Maximum entries of each dictionary of a batch.
  public var dictionaryEntries = 20_000
  /// Maximum bytes of all dictionaries of a batch.
  public var dictionaryBytes = 8 << 20
  /// Budget of one line: a route of 100,000 points, each number with all its digits, has fourteen million bytes.
  public var line = JSONBudget(bytes: 20 << 20, weight: 3_400_000, depth: 132)
  /// Budget of a JSON text in a batch, unless it is a route or an electrocardiogram in columns.
  public var json = JSONBudget.payload
  /// Budget of the JSON text of a route or an electrocardiogram in columns.
  public var columns = JSONBudget.columns
  /// Maximum bytes of a change token, which goes into a URL.
  public var tokenBytes = 1_000
  /// Prefetch: maximum batches that are read while the ones before them are written.
  public var batchesAhead = 4
  /// Prefetch: maximum bytes of the batches that are written and read ahead, but for one larger batch.
  public var bytesAhead = 8 << 20

  // MARK: The pairing

  /// Budget of what a peer says of its pairing with this machine: a scope of all types, and of many sources.
  public var pairingView = JSONBudget(bytes: 64 * 1024, weight: 16_000, depth: 16)

  // MARK: The digest

  /// Budget of a digest: some twenty thousand months of types, as many as a hundred types have in eighteen years.
  public var digest = JSONBudget(bytes: 6 << 20, weight: 2_000_000)

  // MARK: Progress

  /// Minimum bytes, encryption included, received within twice the limit on silence of waiting: far less than on the
  /// worst network that still serves anybody.
  public var leastBytes = 16_384
  /// Maximum time spent waiting for one batch in all.
  public var batchTime = Duration.seconds(1_800)
  /// Maximum changes of one pull that may be here already, beyond twice the number of those that the store holds: a
  /// feed has each change once.
  public var repeatedChanges = 1_000
  /// Maximum answers on one connection that a digest is still being made.
  public var busyAnswers = 60
  /// Maximum pause that such an answer may ask for.
  public var busyPause = Duration.seconds(5)

  /// The limits that `hpeer` itself has; tests set their own.
  public init() {}

  /// A message of another machine, truncated to ``messageLength`` Unicode scalars, of which a character may have any number.
  /// Not escaped.
  public func shortened(_ message: String) -> String {
    String(message.unicodeScalars.prefix(messageLength))
  }
}
