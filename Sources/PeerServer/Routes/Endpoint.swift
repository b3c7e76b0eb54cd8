import HTTPTypes
import Hummingbird
import PeerProtocol

/// A route as it is declared, once: what it answers, to whom, and by what. Paths that answer other methods (405, with
/// `Allow`) and HEAD follow from it.
struct Endpoint<Group: EndpointGroup>: Sendable {
  typealias Handler = @Sendable (Request, PeerRequestContext) async throws -> Response

  let method: HTTPRequest.Method
  /// One of ``Route``.
  let path: String
  let access: EndpointAccess
  let handler: @Sendable (Group) -> Handler

  init(
    _ method: HTTPRequest.Method, _ path: String, for access: EndpointAccess,
    _ handler: @escaping @Sendable (Group) -> Handler
  ) {
    (self.method, self.path, self.access, self.handler) = (method, path, access, handler)
  }
}

/// Who is answered, and with what care.
enum EndpointAccess: Hashable {
  case anyone
  /// Whoever shows a valid token, so many answers at a time for each.
  case paired
  /// Those who read the record: their turns at the store are shared out fairly, and their right is asked for to the end.
  case reading
  /// The same, and those who may have no more of it than numbers of days.
  case counting
}

/// Routes that belong together, and what they need.
protocol EndpointGroup: Sendable {
  static var endpoints: [Endpoint<Self>] { get }
}

extension EndpointGroup {
  func add(to routers: AccessRouters) {
    for endpoint in Self.endpoints {
      routers.on(endpoint.method, endpoint.path, for: endpoint.access, use: endpoint.handler(self))
    }
  }

  /// The methods of each path. GET answers HEAD, too.
  static var methods: [String: Set<HTTPRequest.Method>] {
    endpoints.reduce(into: [:]) { methods, endpoint in
      methods[endpoint.path, default: []].formUnion(endpoint.method == .get ? [.get, .head] : [endpoint.method])
    }
  }
}

/// The middleware in front of each kind of ``EndpointAccess``.
struct AccessRouters {
  let anyone: Router<PeerRequestContext>
  let paired: RouterGroup<PeerRequestContext>
  let reading: RouterGroup<PeerRequestContext>
  let counting: RouterGroup<PeerRequestContext>

  fileprivate func on(
    _ method: HTTPRequest.Method, _ path: String, for access: EndpointAccess,
    use handler: @escaping @Sendable (Request, PeerRequestContext) async throws -> Response
  ) {
    switch access {
    case .anyone: anyone.on(RouterPath(path), method: method, use: handler)
    case .paired: paired.on(RouterPath(path), method: method, use: handler)
    case .reading: reading.on(RouterPath(path), method: method, use: handler)
    case .counting: counting.on(RouterPath(path), method: method, use: handler)
    }
  }
}
