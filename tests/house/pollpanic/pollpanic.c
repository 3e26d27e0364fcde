// SPDX-License-Identifier: GPL-2.0
/*
 * Panics when the interface "dev" receives the next IPv4 packet: in the softirq, within
 * the poll of the interface's NAPI. Or at once: with sending=1, while its first transmit queue
 * is locked; with 2, while its queues are frozen.
 */
#include <linux/if_ether.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>

static char *dev = "eth0";
module_param(dev, charp, 0444);
static uint sending;
module_param(sending, uint, 0444);

static int receive(struct sk_buff *skb, struct net_device *device,
		   struct packet_type *type, struct net_device *orig)
{
	panic("in the poll of %s, softirq %d", device->name,
	      !!in_serving_softirq());
}

static struct packet_type packets = {
	.type = cpu_to_be16(ETH_P_IP),
	.func = receive,
};

static int __init pollpanic_init(void)
{
	packets.dev = dev_get_by_name(&init_net, dev);
	if (!packets.dev)
		return -ENODEV;
	if (sending == 1)
		__netif_tx_lock_bh(netdev_get_tx_queue(packets.dev, 0));
	if (sending == 2)
		netif_tx_lock_bh(packets.dev);
	if (sending)
		panic("with sending=%u", sending);
	dev_add_pack(&packets);
	return 0;
}

/* It is never unloaded */
module_init(pollpanic_init);
MODULE_DESCRIPTION("Panics when an interface receives a packet");
MODULE_LICENSE("GPL");
